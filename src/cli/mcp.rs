//! `kbgen mcp`: serves tools to an assistant over the Model Context Protocol, on standard input and output.
//!
//! Messages are JSON-RPC 2.0, one per line. The server keeps no state between requests. A client of version 2026-07-28
//! names the version in each request (<https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>); a
//! client of an earlier version begins with `initialize`.

mod tools;

use std::io::{self, BufRead, Read, Write};

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use crate::cli::Outcome;
use crate::cli::arguments::{Arguments, McpOptions};
use crate::cli::knowledge_base::KnowledgeBase;
use crate::cli::mcp::tools::Tools;
use crate::cli::terminal::Terminal;

/// Version without a handshake.
const VERSION: &str = "2026-07-28";
/// Versions with a handshake, the latest first.
const HANDSHAKE_VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// Maximum length of a message. A longer one is skipped.
const MAX_MESSAGE_BYTES: u64 = 8 * 1024 * 1024;
/// Time for which a client may reuse the list of tools, in milliseconds. It never changes.
const LIST_TTL_MS: u64 = 3_600_000;

/// Keys of the metadata of a request and a result.
const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Error codes of JSON-RPC, and that of MCP for an unsupported version.
const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const UNSUPPORTED_VERSION: i64 = -32022;

/// Error of a request.
#[derive(Debug)]
struct RpcError {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl RpcError {
    fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    fn response(self, id: Value) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(data) = self.data {
            error["data"] = data;
        }
        json!({"jsonrpc": "2.0", "id": id, "error": error})
    }
}

pub(super) fn run(arguments: &Arguments, options: &McpOptions, terminal: &Terminal) -> Result<Outcome> {
    let base = KnowledgeBase::find(arguments)?;
    let tools = Tools::new(&base, base.cache(&options.cache, terminal));
    serve(&tools, io::stdin().lock(), terminal.raw_stdout())?;
    tools.save();
    Ok(Outcome::Success)
}

/// Answers messages until the input ends or the output is closed.
fn serve(tools: &Tools<'_>, mut input: impl BufRead, mut output: impl Write) -> Result<()> {
    let mut line = Vec::new();
    loop {
        let is_whole = read_line(&mut input, &mut line).context("cannot read standard input")?;
        if line.is_empty() {
            return Ok(());
        }
        let response = match is_whole {
            true if line.trim_ascii().is_empty() => None,
            true => respond(tools, &line),
            false => {
                let message = format!("message of more than {MAX_MESSAGE_BYTES} bytes");
                Some(RpcError::new(INVALID_REQUEST, message).response(Value::Null))
            }
        };
        let Some(response) = response else { continue };
        match output.write_all(format!("{response}\n").as_bytes()).and_then(|()| output.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            written => written.context("cannot write to standard output")?,
        }
    }
}

/// Reads a line; returns false and skips its rest if it is too long. The line is empty at the end of the input.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    let mut is_whole = true;
    loop {
        line.clear();
        let read = input.take(MAX_MESSAGE_BYTES).read_until(b'\n', line)?;
        if (read as u64) < MAX_MESSAGE_BYTES || line.ends_with(b"\n") {
            if !is_whole {
                line.push(b'\n');
            }
            return Ok(is_whole);
        }
        is_whole = false;
    }
}

/// Returns the response to a message, or those to a batch; `None` for notifications and responses.
fn respond(tools: &Tools<'_>, line: &[u8]) -> Option<Value> {
    match serde_json::from_slice(line) {
        Err(error) => {
            Some(RpcError::new(PARSE_ERROR, format!("invalid JSON: {error}")).response(Value::Null))
        }
        Ok(Value::Array(batch)) if !batch.is_empty() => {
            let responses: Vec<Value> =
                batch.iter().filter_map(|message| respond_to(tools, message)).collect();
            (!responses.is_empty()).then_some(Value::Array(responses))
        }
        Ok(message) => respond_to(tools, &message),
    }
}

fn respond_to(tools: &Tools<'_>, message: &Value) -> Option<Value> {
    let id = message.get("id");
    let valid_id = id.filter(|id| id.is_string() || id.is_number()).cloned();
    let invalid = |message| {
        let id = valid_id.clone().unwrap_or(Value::Null);
        Some(RpcError::new(INVALID_REQUEST, message).response(id))
    };
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid("`jsonrpc` is not \"2.0\"");
    }
    let Some(method) = message.get("method").and_then(Value::as_str) else {
        let is_response = message.get("result").or(message.get("error")).is_some();
        return if is_response { None } else { invalid("`method` is not a string") };
    };
    id?;
    let Some(id) = valid_id.clone() else { return invalid("`id` is neither a string nor a number") };
    let none = Map::new();
    let result = match message.get("params") {
        None => result(tools, method, &none),
        Some(Value::Object(params)) => result(tools, method, params),
        Some(_) => Err(RpcError::new(INVALID_PARAMS, "`params` is not an object")),
    };
    Some(match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => error.response(id),
    })
}

fn result(tools: &Tools<'_>, method: &str, params: &Map<String, Value>) -> Result<Value, RpcError> {
    let has_handshake = !names_version(params)?;
    let (mut result, is_constant) = match method {
        "initialize" => (initialize(tools, params)?, false),
        "server/discover" if has_handshake => {
            return Err(RpcError::new(INVALID_PARAMS, format!("missing `{PROTOCOL_VERSION}` in `_meta`")));
        }
        "server/discover" => {
            let description = json!({
                "supportedVersions": [VERSION],
                "capabilities": {"tools": {}},
                "instructions": tools.instructions(),
            });
            (description, true)
        }
        "ping" => (json!({}), false),
        "tools/list" if params.contains_key("cursor") => {
            return Err(RpcError::new(INVALID_PARAMS, "unknown cursor; all tools are on the first page"));
        }
        "tools/list" => (json!({"tools": tools::definitions()}), true),
        "tools/call" => (call(tools, params)?, false),
        _ => return Err(RpcError::new(METHOD_NOT_FOUND, format!("unknown method `{method}`"))),
    };
    if !has_handshake {
        result["resultType"] = json!("complete");
        result["_meta"] = json!({SERVER_INFO: server_info()});
        if is_constant {
            result["ttlMs"] = json!(LIST_TTL_MS);
            result["cacheScope"] = json!("public");
        }
    }
    Ok(result)
}

/// Returns whether the request names the version without a handshake.
///
/// # Errors
/// If it names another one, or lacks the capabilities of the client.
fn names_version(params: &Map<String, Value>) -> Result<bool, RpcError> {
    let meta = params.get("_meta");
    let Some(version) = meta.and_then(|meta| meta.get(PROTOCOL_VERSION)) else { return Ok(false) };
    if version != VERSION {
        return Err(RpcError {
            data: Some(json!({"supported": [VERSION], "requested": version})),
            ..RpcError::new(UNSUPPORTED_VERSION, "unsupported protocol version")
        });
    }
    match meta.and_then(|meta| meta.get(CLIENT_CAPABILITIES)) {
        Some(Value::Object(_)) => Ok(true),
        _ => Err(RpcError::new(INVALID_PARAMS, format!("missing `{CLIENT_CAPABILITIES}` in `_meta`"))),
    }
}

/// Agrees on the requested version, or else on the latest one with a handshake.
fn initialize(tools: &Tools<'_>, params: &Map<String, Value>) -> Result<Value, RpcError> {
    let Some(requested) = params.get("protocolVersion").and_then(Value::as_str) else {
        return Err(RpcError::new(INVALID_PARAMS, "`protocolVersion` is not a string"));
    };
    let version = HANDSHAKE_VERSIONS.into_iter().find(|version| *version == requested);
    Ok(json!({
        "protocolVersion": version.unwrap_or(HANDSHAKE_VERSIONS[0]),
        "capabilities": {"tools": {}},
        "serverInfo": server_info(),
        "instructions": tools.instructions(),
    }))
}

fn server_info() -> Value {
    json!({"name": "kbgen", "version": env!("CARGO_PKG_VERSION")})
}

/// Calls a tool. An error of the tool is a result, which the model can read.
fn call(tools: &Tools<'_>, params: &Map<String, Value>) -> Result<Value, RpcError> {
    let name = params.get("name").and_then(Value::as_str);
    let none = Map::new();
    let arguments = match params.get("arguments") {
        None => &none,
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return Err(RpcError::new(INVALID_PARAMS, "`arguments` is not an object")),
    };
    let Some(name) = name.filter(|name| tools::NAMES.contains(name)) else {
        let name = name.unwrap_or_default();
        return Err(RpcError::new(INVALID_PARAMS, format!("unknown tool `{name}`")));
    };
    Ok(match tools.call(name, arguments) {
        Ok((text, data)) => {
            json!({"content": [{"type": "text", "text": text}], "structuredContent": data, "isError": false})
        }
        Err(error) => {
            json!({"content": [{"type": "text", "text": format!("{error:#}")}], "isError": true})
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_a_line_that_is_too_long() {
        let long = vec![b'x'; MAX_MESSAGE_BYTES as usize * 2 + 3];
        let mut input: &[u8] = &[&long, b"\nnext\n".as_slice()].concat();
        let mut line = Vec::new();
        assert!(!read_line(&mut input, &mut line).unwrap() && !line.is_empty());
        assert!(read_line(&mut input, &mut line).unwrap() && line == b"next\n");
        assert!(read_line(&mut input, &mut line).unwrap() && line.is_empty());
    }
}
