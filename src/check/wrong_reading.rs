//! Samples of readings that lead to another sentence than the one listed.

use kbgen_signature::{LogEnd, Traceback};

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::site::Page;
use crate::site::kinds::{ReadingData, ReadingSample};

pub(super) const RULE: Rule = Rule {
    code: "wrong-reading",
    requirement: "samples of a reading lead to the listed sentences",
    why: "a wrong sentence about an error misleads its readers",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let clear =
        context.site.readings.iter().filter(|page| context.compiled().is_complete(&page.head.id.slug));
    clear
        .flat_map(|page| page.data.samples.iter().filter_map(|sample| wrong(context, page, sample)))
        .collect()
}

fn wrong(
    context: &CheckContext<'_>,
    page: &Page<ReadingData>,
    ReadingSample { text, says }: &ReadingSample,
) -> Option<Diagnostic> {
    let index = &context.compiled().index;
    let traceback = Traceback::read(&text.value);
    let found =
        index.readings(&index.diagnose(&text.value), traceback.as_ref(), &LogEnd::new(&text.value, 0));
    let Some(reading) = found.into_iter().find(|reading| reading.slug == page.head.id.slug) else {
        return Some(
            Diagnostic::error(&RULE, text.span, "this reading says nothing of this sample")
                .help("add a pattern that matches it, or remove the sample"),
        );
    };
    (reading.says != says.value).then(|| {
        Diagnostic::error(&RULE, says.span, format!("the reading says `{}`", reading.says))
            .help("fix the reading, or the sentence")
    })
}
