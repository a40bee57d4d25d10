//! Parses calls in prose: `fit("llama-3.1-8b-instruct", "Q4_K_M", ctx=32768).kv`, `include("setup")`.

use std::ops::Range;

use crate::diag::nearest;

/// A parsed call. Ranges are byte offsets in the text between the braces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProseCall {
    /// Slug of the model.
    pub model: Argument<String>,
    /// Name of the quantization.
    pub quant: Argument<String>,
    /// Context in tokens; default: [`DEFAULT_CTX`](crate::site::DEFAULT_CTX).
    pub ctx: Option<Argument<u64>>,
    /// Type of the KV cache.
    pub kv: Option<Argument<String>>,
    /// Slug of a device.
    pub gpu: Option<Argument<String>>,
    /// Requested figure.
    pub figure: Argument<Figure>,
}

/// An argument and its range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument<T> {
    /// Parsed value.
    pub value: T,
    /// Range in the text.
    pub range: Range<usize>,
}

/// Figures that a call can return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Size of the model file, in bytes.
    File,
    /// Weights on the GPU, in bytes.
    Weights,
    /// KV cache, in bytes.
    Kv,
    /// Compute buffer, in bytes.
    Compute,
    /// Sum of weights, KV cache and compute buffer, in bytes.
    Total,
    /// Largest context on a device, in tokens.
    MaxCtx,
}

impl Figure {
    /// All figures with their names.
    pub const NAMES: [(&'static str, Self); 6] = [
        ("file", Self::File),
        ("weights", Self::Weights),
        ("kv", Self::Kv),
        ("compute", Self::Compute),
        ("total", Self::Total),
        ("max_ctx", Self::MaxCtx),
    ];
}

/// Names of the optional arguments.
const KEYWORDS: [&str; 3] = ["ctx", "kv", "gpu"];

/// A syntax error in a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFault {
    /// Range of the error.
    pub range: Range<usize>,
    /// Description, as a phrase.
    pub message: String,
    /// Suggested action.
    pub help: String,
}

/// Maximum context in a call: larger than that of every model, and safe from overflow.
const LARGEST_CTX: u64 = 1 << 24;

impl ProseCall {
    /// Parses a call.
    ///
    /// # Errors
    /// The first syntax error.
    pub fn parse(text: &str) -> Result<Self, CallFault> {
        let mut reader = Reader { text, at: 0 };
        let name = reader.word();
        if &text[name.clone()] != "fit" {
            let help = "write `fit(\"model\", \"Q4_K_M\").kv` or `include(\"name\")`";
            return Err(fault(name, "expected `fit` or `include`", help));
        }
        reader.expect('(')?;
        let model = reader.string("a quoted model slug")?;
        reader.expect(',')?;
        let quant = reader.string("a quoted quantization")?;
        let (mut ctx, mut kv, mut gpu) = (None, None, None);
        while reader.skip(',') {
            let key = reader.word();
            reader.expect('=')?;
            match &text[key.clone()] {
                "ctx" => ctx = Some(reader.number()?),
                "kv" => kv = Some(reader.string("a quoted cache type, such as \"q8_0\"")?),
                "gpu" => gpu = Some(reader.string("a quoted device slug")?),
                other => {
                    let help = nearest(other, KEYWORDS).map_or_else(
                        || "use ctx, kv or gpu".to_string(),
                        |near| format!("did you mean `{near}`?"),
                    );
                    return Err(CallFault {
                        range: key,
                        message: format!("unknown argument `{other}` of `fit`"),
                        help,
                    });
                }
            }
        }
        reader.expect(')')?;
        reader.expect('.')?;
        let figure = reader.figure()?;
        reader.end()?;
        if figure.value == Figure::MaxCtx && gpu.is_none() {
            return Err(fault(figure.range, "`max_ctx` requires a device", "add `gpu=\"geforce-rtx-4090\"`"));
        }
        Ok(Self { model, quant, ctx, kv, gpu, figure })
    }
}

/// Parses a call that includes a text, and returns its name; `None` for other calls.
pub fn included(text: &str) -> Option<Result<Argument<String>, CallFault>> {
    let mut reader = Reader { text, at: 0 };
    if &text[reader.word()] != "include" {
        return None;
    }
    let mut name = || {
        reader.expect('(')?;
        let name = reader.string("a quoted name")?;
        reader.expect(')')?;
        reader.end()?;
        Ok(name)
    };
    let help = || "write `include(\"name\")` for the file `content/includes/name.md`".to_string();
    Some(name().map_err(|fault: CallFault| CallFault { help: help(), ..fault }))
}

fn fault(range: Range<usize>, message: &str, help: &str) -> CallFault {
    CallFault { range, message: message.into(), help: help.into() }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn skip(&mut self, wanted: char) -> bool {
        self.space();
        let found = self.text[self.at..].starts_with(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn expect(&mut self, wanted: char) -> Result<(), CallFault> {
        if self.skip(wanted) {
            return Ok(());
        }
        let range = self.at..self.text[self.at..].chars().next().map_or(self.at, |c| self.at + c.len_utf8());
        let help = "write a call such as `fit(\"model\", \"Q4_K_M\", ctx=8192).kv`";
        Err(fault(range, &format!("expected `{wanted}`"), help))
    }

    fn word(&mut self) -> Range<usize> {
        self.space();
        let start = self.at;
        let rest = &self.text[start..];
        self.at += rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        start..self.at
    }

    fn string(&mut self, what: &str) -> Result<Argument<String>, CallFault> {
        self.space();
        let start = self.at;
        let rest = &self.text[start..];
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let Some(end) = quote.and_then(|quote| rest[1..].find(quote)) else {
            return Err(fault(start..self.text.len(), &format!("expected {what}"), "close the quotes"));
        };
        self.at = start + end + 2;
        Ok(Argument { value: rest[1..=end].to_string(), range: start + 1..start + 1 + end })
    }

    fn number(&mut self) -> Result<Argument<u64>, CallFault> {
        let range = self.word();
        match self.text[range.clone()].replace('_', "").parse::<u64>() {
            Ok(value) if value <= LARGEST_CTX => Ok(Argument { value, range }),
            Ok(_) => Err(fault(
                range,
                &format!("context larger than {LARGEST_CTX} tokens"),
                "use a context that the model supports",
            )),
            Err(_) => Err(fault(range, "invalid context", "write digits only, such as 32768")),
        }
    }

    fn figure(&mut self) -> Result<Argument<Figure>, CallFault> {
        let range = self.word();
        let name = &self.text[range.clone()];
        if let Some((_, value)) = Figure::NAMES.iter().find(|(known, _)| *known == name) {
            return Ok(Argument { value: *value, range });
        }
        let names = Figure::NAMES.map(|(name, _)| name);
        let help = nearest(name, names).map_or_else(
            || format!("use one of {}", names.join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        Err(CallFault { range, message: format!("unknown figure `{name}` of `fit`"), help })
    }

    fn end(&mut self) -> Result<(), CallFault> {
        self.space();
        match self.at == self.text.len() {
            true => Ok(()),
            false => {
                Err(fault(self.at..self.text.len(), "unexpected text after the call", "end the call here"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_calls_with_ranges() {
        let call = ProseCall::parse(" fit(\"m\", 'Q8_0', ctx=32_768, kv=\"q8_0\").total ").expect("a call");
        assert_eq!((call.model.value.as_str(), call.model.range), ("m", 6..7));
        assert_eq!(call.ctx.map(|ctx| ctx.value), Some(32768));
        assert_eq!(call.figure.value, Figure::Total);
    }

    #[test]
    fn reports_errors_with_ranges() {
        let at = |text: &str| ProseCall::parse(text).expect_err("a fault");
        assert_eq!(at("fit(\"m\", \"Q8_0\").kvv").range, 17..20);
        assert_eq!(at("fit(\"m\", \"Q8_0\", cxt=1).kv").help, "did you mean `ctx`?");
        assert_eq!(at("fit(\"m\", \"Q8_0\").max_ctx").message, "`max_ctx` requires a device");
        assert!(ProseCall::parse("fit(\"m").is_err());
        assert_eq!(at("fit(\"m\", \"Q8_0\", ctx=16777217).kv").range, 21..29);
        assert!(ProseCall::parse("").is_err());
    }
}
