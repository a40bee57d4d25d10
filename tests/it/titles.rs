//! Short input instead of a log: page titles and truncated messages.

use kbgen::diagnosis::Evidence;

use crate::knowledge::Knowledge;

#[test]
fn every_page_is_found_by_its_own_title() {
    let knowledge = Knowledge::read();
    let mut wrong = Vec::new();
    let mut asked = 0;
    for (slug, title) in knowledge.titles() {
        for text in [title.to_owned(), title.to_lowercase(), format!("\u{201c}{title}\u{201d}.\n")] {
            asked += 1;
            let first = knowledge.answers(&text).into_iter().next();
            if first.as_ref().is_none_or(|first| first.slug != slug) {
                wrong.push(format!("{text}: {:?}", first.map(|first| first.slug)));
            }
        }
    }
    assert!(wrong.is_empty() && asked > 700, "{} of {asked}: {wrong:#?}", wrong.len());
}

#[test]
fn a_title_is_not_an_exact_match() {
    let answers = Knowledge::read().answers("CUDA out of memory");
    let first = &answers[0];
    assert!(!first.exact && first.found_by == Evidence::Title && first.line.is_none(), "{first:?}");
}

#[test]
fn the_title_of_a_short_post_is_a_question() {
    let first = |text: &str| {
        Knowledge::read().answers(text).first().map(|found| (found.slug.clone(), found.found_by))
    };
    for (text, slug, found_by) in [
        ("llama.cpp returns gibberish\nversion: 4784 (b95c8af3)\n", "gibberish-output", Evidence::Title),
        ("Model X, build 12\nIt only writes senseless output\n", "gibberish-output", Evidence::Title),
        (
            "Installing with flash attention fails\n\nIt fails again",
            "flash-attn-build-failed",
            Evidence::Words,
        ),
        (
            "failed to load model\nModel type gemma3_text not supported.",
            "mlx-model-type-unsupported",
            Evidence::Signature,
        ),
    ] {
        assert_eq!(first(text), Some((slug.to_owned(), found_by)), "{text}");
    }
    let black = Knowledge::read().answers("comfyui black image");
    assert!(black[0].title.starts_with("Black image: "), "the page has its own title: {}", black[0].title);
    let log = "one\ntwo\nthree\nllama.cpp returns gibberish";
    assert_eq!(first(log), None, "a log of four lines is no post");
    assert_eq!(first("exo crashed with code 6\nExited with code 6"), None, "a title alone says less");
}

#[test]
fn a_message_that_was_cut_off_leads_to_its_page() {
    for (text, slug) in [
        ("CUDA out of memory", "cuda-oom"),
        ("RuntimeError: CUDA out of memory.", "cuda-oom"),
        ("CUDA error: out of memory", "cuda-oom"),
        ("CUDA error: out of memory - Llama 3.2 3B on laptop", "cuda-oom"),
        ("RuntimeError: HIP out of memory. Tried to", "hip-oom"),
    ] {
        let answers = Knowledge::read().answers(text);
        assert_eq!(answers.first().map(|found| found.slug.as_str()), Some(slug), "{text}: {answers:#?}");
    }
}

#[test]
fn a_healthy_line_has_no_match() {
    for text in ["loader: listening on 127.0.0.1:8080", "the shop ran out of memory cards", "all is well"] {
        let answers = Knowledge::read().answers(text);
        assert!(answers.iter().all(|found| !found.exact), "{text}: {answers:#?}");
    }
}

/// A log that shares only common words with a page is given no page, which would mislead.
#[test]
fn a_message_that_shares_only_common_words_gets_no_suggestion() {
    let knowledge = Knowledge::read();
    let split =
        "Error: split GGUF \"x-00001-of-00003.gguf\" filename count 3 does not match metadata count 2";
    assert_eq!(knowledge.answers(split)[0].slug, "ollama-create-split-gguf");
    for text in [
        "ValueError: the loader could not read its input",
        "failed to load the model\nerror: the server did not start: out of time\nwarning: memory was not found",
    ] {
        let answers = knowledge.answers(text);
        assert!(answers.is_empty(), "{text}: {answers:#?}");
    }
}
