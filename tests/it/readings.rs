//! Structural readings: what a log says where no page names the cause.

use std::fs;

use serde_json::{Value, json};

use crate::expect::{self, files};
use crate::knowledge::Knowledge;

/// Returns the sentences of all readings of a log.
fn says(log: &str) -> Vec<String> {
    Knowledge::read().readings(log).into_iter().map(|reading| reading.says).collect()
}

#[test]
fn a_healthy_log_says_nothing() {
    // One of the logs has errors of programs that the knowledge base does not cover; they may be read.
    let healthy = |path: &std::path::PathBuf| !path.ends_with("other-fields.txt");
    for path in files("tests/data/healthy", ".txt").into_iter().filter(healthy) {
        let log = fs::read_to_string(&path).expect("a log is text");
        assert_eq!(says(&log), [""; 0], "{}", path.display());
    }
    for line in [
        "exit code 0",
        "HTTP Request: POST /api/chat \"HTTP/1.1 200 OK\"",
        "ValueError",
        "no error: all is well",
    ] {
        assert_eq!(says(line), [""; 0], "{line}");
    }
}

#[test]
fn the_exception_that_matters_is_read_from_a_chain_and_before_a_wrapper() {
    let log = "Traceback (most recent call last):
  File \"/venv/lib/python3.12/site-packages/transformers/utils/hub.py\", line 470, in cached_files
    hf_hub_download(repo)
OSError: [Errno 99] Cannot assign requested address

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File \"/app/main.py\", line 12, in <module>
    model = load(name)
  File \"/venv/lib/python3.12/site-packages/loader/model.py\", line 7, in load
    raise RuntimeError(\"cannot load\") from error
RuntimeError: cannot load
Traceback (most recent call last):
  File \"/venv/lib/python3.12/site-packages/loader/client.py\", line 3, in wait
RuntimeError: Worker failed. See root cause above.
";
    let readings = Knowledge::read().readings(log);
    assert_eq!(
        readings.iter().map(|reading| reading.says.as_str()).collect::<Vec<_>>(),
        [
            "The operating system reports error 99, EADDRNOTAVAIL: this computer does not have the address.",
            "The first exception of the chain is OSError: [Errno 99] Cannot assign requested address It led to \
             RuntimeError in loader/model.py, line 7."
        ]
    );
    assert_eq!(readings[1].line, 13);
}

#[test]
fn a_message_is_read_wherever_a_program_prints_it() {
    for log in [
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nTypeError: tomato isn't supported here.\n",
        "ERROR:root:tomato isn't supported here.",
        "ERROR [app.routers.models] tomato isn't supported here.",
        "level=ERROR msg=\"tomato isn't supported here.\"",
        "{\"error\":\"tomato isn't supported here.\"}",
    ] {
        let expected = "The program reports this as not supported: tomato";
        assert!(says(log).iter().any(|says| says == expected), "{log}: {:?}", says(log));
    }
    // The line only passes on a failure.
    let passed_on = says("ValueError: Failed to load model from file: /models/a.gguf");
    assert_eq!(passed_on, ["llama-cpp-python could not load the file."]);
}

#[test]
fn of_a_line_one_reading_says_what_happened() {
    let log = "Traceback (most recent call last):
  File \"/app/nodes.py\", line 4, in load
RuntimeError: The upscaler was not found and is not supported. Please install the upscaler.
";
    assert_eq!(says(log), ["The upscaler was not found and is not supported."]);
    let crash = "(Exit code: 18446744072635812000). Unknown error. Try a different model and/or config.";
    assert_eq!(says(crash).len(), 2, "one says what the code means, the other where the cause is");
}

/// Lines of a lower level, and a line of a browser inside a program.
const QUIET_LINES: [&str; 7] = [
    "warning: Failed to copy the cache: the folder is missing",
    "progress 0/1   warning: Failed to copy the cache: the folder is missing",
    "2025-01-01 10:00:00 INFO [cache.py:3] Error: the tomato backend is not supported",
    "time=2025-01-01T10:00:00.000Z level=WARN msg=\"Error: the tomato backend is not supported\"",
    "UserWarning: Error: the tomato backend is not supported",
    "[744472:0525/145619.063924:ERROR:tomato_buffer_x11.cc(49)] tomato extension not supported.",
    "2026-11-02 10:11:12.345 [W:onnxruntime:, session.cc:1166 Verify] Error: the tomato is not supported",
];

#[test]
fn a_message_of_any_form_is_read_only_in_a_report_of_an_error() {
    for quiet in QUIET_LINES {
        assert_eq!(says(quiet), [""; 0], "{quiet}");
    }
    let failed = says(&format!("{}\nError: the potato backend is not supported\n", QUIET_LINES[5]));
    assert!(failed[0].contains("potato"), "{failed:?}");
}

/// Lines with names, frames, code and prose, each with a claim that it does not prove.
const UNPROVEN_CLAIMS: [(&str, &str); 13] = [
    ("CudaAPIError: [700] Call to cuCtxSynchronize results in UNKNOWN_CUDA_ERROR", "know this"),
    ("00007FF8 c10.dll!c10::Error::Error [<unknown file> @ <unknown line number>]", "know this"),
    ("Error: An unknown problem has occurred", "know this"),
    ("OSError: ERROR_ALREADY_EXISTS", "already"),
    ("OSError: [Errno 22] Invalid argument: 'tomato.txt'", "separate argument"),
    ("Error: Command failed: npm run tomato", "Command failed"),
    ("error: I do not know what this means, it already worked yesterday", "is already"),
    ("12: std::net::tcp::TcpListener::bind", "browser"),
    ("cat: tomato.gguf: Datei oder Verzeichnis nicht gefunden", "cannot start"),
    ("TypeError: fetch URL", "address"),
    ("Model weights not found", "no model of the name"),
    ("Connecting to LM Studio at http://localhost:1234", "did not reach"),
    ("The operation was successful.", "ended the request"),
];

#[test]
fn a_line_is_not_read_as_more_than_it_proves() {
    for (line, claim) in UNPROVEN_CLAIMS {
        let claims = says(line);
        assert!(!claims.iter().any(|says| says.contains(claim)), "{line}: {claims:?}");
    }
}

#[test]
fn the_text_of_short_lines_is_no_message() {
    let lines = "driver error: the name is empty\nanother tomato is not supported\n";
    assert_eq!(says(lines), [""; 0]);
    let below = "Error:\nthe tomato is not supported\n";
    assert_eq!(says(below).len(), 1, "the message is below its title");
}

#[test]
fn the_exception_that_ended_the_program_comes_before_an_earlier_message_of_any_form() {
    let message = "Error: the tomato backend is not supported\n";
    let exception =
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nValueError: no flux\n";
    let first = says(&format!("{message}{exception}")).remove(0);
    assert_eq!(first, "The code in a.py, line 1 raised ValueError: no flux");
    assert!(says(&format!("{exception}{message}"))[0].contains("tomato"));
}

#[test]
fn a_fragment_that_excludes_a_reading_also_does_so_in_front_of_the_message() {
    let message = "RuntimeError: Failed to open the shard: the header is damaged";
    let says_step = |log: &str| says(log).iter().any(|says| says.starts_with("The program could not open"));
    assert!(says_step(message));
    assert!(!says_step(&format!("amdgpu not found in modules\n{message}")));
}

#[test]
fn an_assertion_has_its_message_or_its_condition_without_marks() {
    let log = |error: &str| {
        format!(
            "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    assert tomato.is_ripe()\n           \
             ^^^^^^~~~~~~~~~~\n{error}\n"
        )
    };
    assert_eq!(says(&log("AssertionError"))[0], "A check of the program failed: tomato.is_ripe()");
    let message = says(&log("AssertionError: eat a ripe one"));
    assert_eq!(message, ["The code in a.py, line 1 raised AssertionError: eat a ripe one"]);
}

#[test]
fn a_call_of_another_version_names_the_package_that_calls() {
    let log = "Traceback (most recent call last):
  File \"/srv/ComfyUI/execution.py\", line 5, in execute
    node()
  File \"C:\\venv\\Lib\\site-packages\\diffusers\\models\\attention.py\", line 88, in forward
    attn(x, scale=1)
TypeError: Attention.forward() got an unexpected keyword argument 'scale'
";
    assert_eq!(
        says(log)[0],
        "The function Attention.forward() of the installed version has no argument \"scale\"; the call is in \
         diffusers/models/attention.py, line 88."
    );
}

#[test]
fn exit_codes_are_read_in_every_notation() {
    for (log, expected) in [
        ("exit status 0xc0000005", "STATUS_ACCESS_VIOLATION"),
        ("process exited with code 3221226505", "STATUS_STACK_BUFFER_OVERRUN"),
        ("process exited with code -1073741795", "STATUS_ILLEGAL_INSTRUCTION"),
        ("(Exit code: 18446744072635812000)", "0xC0000409"),
        ("container exited with code 139", "SIGSEGV"),
        ("worker exit code: -9", "SIGKILL"),
        ("the runner ended: exit status \"0xc0000005\"", "STATUS_ACCESS_VIOLATION"),
        ("the server stopped with error \"0xc000001d\"", "STATUS_ILLEGAL_INSTRUCTION"),
    ] {
        assert!(says(log).iter().any(|says| says.contains(expected)), "{log}: {:?}", says(log));
    }
    assert_eq!(says("exited with code 1"), [""; 0]);
}

/// JSON and text of `kbgen diagnose`.
fn diagnose(log: &str) -> (Value, String) {
    let run = |format: &str| {
        String::from_utf8(expect::diagnose(log.as_bytes(), format).stdout).expect("the answer is text")
    };
    (serde_json::from_str(&run("json")).expect("the answer is JSON"), run("human"))
}

#[test]
fn a_reading_is_no_page() {
    let (answer, text) = diagnose("worker: exit status 0xc0000374\n");
    assert_eq!(answer["readings"][0]["name"], "exit-code");
    let meaning = answer["readings"][0]["figures"]["meaning"].as_str().unwrap();
    assert!(meaning.starts_with("STATUS_HEAP_CORRUPTION"), "{meaning}");
    assert!(answer["matches"].as_array().unwrap().iter().all(|found| found["exact"] == false));
    let expected =
        "no page has this message; what the log says:\n\nA process ended with exit code 0xc0000374";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn a_crash_comes_before_a_message_that_the_program_handled() {
    let crash = "zsh: segmentation fault  python main.py\n";
    for handled in [
        "Optional node import failed with error: No module named 'tomato.editor'. This reminder can be ignored.\n",
        "WARNING: RuntimeError: The model is not loaded\n",
    ] {
        assert!(says(handled).iter().any(|says| !says.contains("SIGSEGV")), "{handled}");
        assert!(says(&format!("{handled}{crash}"))[0].contains("SIGSEGV"), "{handled}");
    }
    let failure = says(&format!("RuntimeError: The model is not loaded\n{crash}"));
    assert!(!failure[0].contains("SIGSEGV"), "{failure:?}");
}

#[test]
fn each_sentence_names_the_page_of_its_failure() {
    let page = |log: &str| diagnose(log).0["readings"][0]["pages"][0]["slug"].as_str().unwrap().to_owned();
    assert_eq!(page("ModuleNotFoundError: No module named 'f5_tts'"), "python-module-not-found");
    let build = "failed (exit status: 1)\n[stderr]\nTraceback (most recent call last):\n  File \"<string>\", line 9\n\
                 ModuleNotFoundError: No module named 'Cython'";
    assert_eq!(page(build), "pip-build-failed");
    let (_, text) = diagnose("ModuleNotFoundError: No module named 'f5_tts'");
    let expected = "  page: ModuleNotFoundError: No module named\n  kbgen explain python-module-not-found\n";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_page_that_names_the_cause_needs_no_reading_and_a_wrapper_does() {
    let cause = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n";
    assert_eq!(diagnose(cause).0["readings"], json!([]));
    let wrapper = "Traceback (most recent call last):
  File \"/venv/lib/python3.12/site-packages/vllm/loader.py\", line 9, in load
    open(path)
OSError: [Errno 5] Input/output error: '/models/a.json'
RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore_0': 1}
";
    let (answer, text) = diagnose(wrapper);
    assert_eq!(answer["matches"][0]["slug"], "vllm-engine-core-init-failed");
    assert_eq!(answer["readings"][0]["name"], "errno");
    assert!(text.contains("what the log says:\n\n"), "{text}");
}

#[test]
fn a_reading_that_says_where_the_cause_is_comes_before_the_title_of_a_wrapper() {
    let (answer, text) =
        diagnose("LoadWeightsFailedException: Failed to load model 'C:\\models\\tomato-7B.ggmlv3.q4_1.bin'");
    assert_eq!(answer["matches"][0]["slug"], "llamacpp-model-not-loaded");
    assert!(text.starts_with("what the log says:\n\nLLamaSharp reports only"), "{text}");
    assert!(!text.contains("a page has this title"), "the reading names the page: {text}");
}

#[test]
fn behind_a_line_that_is_no_error_the_exception_is_read_too() {
    let exception =
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nValueError: no flux\n";
    let says = "The code in a.py, line 1 raised ValueError: no flux";
    let first = |level: &str| {
        format!("{level}torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n")
    };
    let (answer, text) = diagnose(&format!("{}{exception}", first("2026-01-02 10:20:30 INFO ")));
    assert_eq!(answer["readings"][0]["says"], says);
    assert!(text.starts_with("CUDA out of memory\n") && text.contains(says), "{text}");
    let (answer, _) = diagnose(&format!("{}{exception}", first("")));
    assert_eq!(answer["readings"], json!([]), "an error is the cause of what follows");
}

/// A message with another line of a log behind it, and one that has a time itself.
const JOINED_LINES: [&str; 2] = [
    "GGML_ASSERT: ggml.c:6670: tomato->type == RIPE 9:27AM DBG GRPC(a.bin-127.0.0.1:33649): stderr SIGABRT",
    "RuntimeError: the tomato of 2026-01-02 10:20:30 is not supported",
];

#[test]
fn another_line_that_was_joined_to_a_message_is_left_out() {
    let check = "A check of the program failed: tomato->type == RIPE".to_owned();
    assert!(says(JOINED_LINES[0]).contains(&check), "{:?}", says(JOINED_LINES[0]));
}

#[test]
fn sounds_and_fewer_equal_lines_of_a_transcription_are_no_loop() {
    let cues = |text: &str, count: usize| format!("[00:00:00.000 --> 00:00:02.000]  {text}\n").repeat(count);
    assert!(says(&cues("Good night.", 4))[0].contains("loop"));
    for healthy in [cues("Good night.", 3), cues("[Music]", 9), "Good night.\n".repeat(9)] {
        assert_eq!(says(&healthy), [""; 0], "{healthy}");
    }
}

/// An exception whose name is in lowercase letters, and a traceback that is cut off after a message with lines of a log behind it.
const ODD_TRACEBACKS: [&str; 2] = [
    "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    a.b: int = g()\nsocket.timeout: timed out",
    "KeyError: 'c'\n2026-01-02 10:20:30 INFO done\nTraceback (most recent call last):\n  File \"a.py\", line 1, in f",
];

#[test]
fn an_exception_is_read_in_small_letters_and_apart_from_a_cut_traceback() {
    let name = says(ODD_TRACEBACKS[0]);
    assert!(name[0].contains("socket.timeout"), "{name:?}");
    let apart = says(ODD_TRACEBACKS[1]);
    assert!(!apart.iter().any(|says| says.contains("cut off after")), "{apart:?}");
}

#[test]
fn a_reading_that_names_the_cause_comes_before_a_page_that_does_not() {
    let wrapper =
        "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}\n";
    let (answer, text) =
        diagnose(&format!("OSError: [Errno 5] Input/output error: '/models/a.json'\n{wrapper}"));
    let names_cause = |found: &str| answer[found][0]["names_cause"].as_bool();
    assert_eq!((names_cause("readings"), names_cause("matches")), (Some(true), Some(false)));
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part} in {text}"));
    assert!(text.starts_with("what the log says:\n\nThe operating system reports error 5"), "{text}");
    assert!(
        place("pages about messages that do not tell the cause") < place("kbgen explain vllm-engine-core")
    );
    let killed = "Killed\nModuleNotFoundError: No module named 'tomato'\n";
    let (answer, text) = diagnose(killed);
    assert_eq!(answer["matches"][0]["slug"], "linux-oom-killer");
    assert!(text.starts_with("what the log says:\n\nPython found no module \"tomato\"."), "{text}");
    let (answer, text) = diagnose("Killed\nworker: exit status 137\n");
    assert_eq!(answer["readings"], json!([]), "{text}");
}

#[test]
fn the_cause_comes_first_also_after_a_message_that_only_passes_on_a_failure() {
    let cause = "Traceback (most recent call last):\n  File \"/app/train.py\", line 12, in main\nKeyError: 'tomato'\n";
    for wrapper in [
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\ntrain.py FAILED",
        "subprocess.CalledProcessError: Command '['python', 'train.py']' returned non-zero exit status 1.",
        "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
    ] {
        for log in [format!("{wrapper}\n{cause}"), format!("{cause}{wrapper}\n")] {
            let first = says(&log).remove(0);
            assert_eq!(
                first, "app/train.py, line 12 looked for the key \"tomato\" and did not find it.",
                "{log}"
            );
        }
    }
}

#[test]
fn the_text_of_a_system_error_alone_leads_to_no_page() {
    for text in ["No such file or directory", "Permission denied", "Connection refused (os error 111)"] {
        let (answer, _) = diagnose(text);
        assert_eq!((&answer["matches"], &answer["readings"][0]["name"]), (&json!([]), &json!("errno-text")));
    }
}

#[test]
fn a_failure_comes_before_a_failed_import_and_a_warning_that_the_program_survived() {
    let import = "ModuleNotFoundError: No module named 'librosa'\n";
    let handled = format!("Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n{import}");
    let key = "Traceback (most recent call last):\n  File \"b.py\", line 2, in g\nKeyError: 'tomato'\n";
    let memory = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n";
    let begins = |log: &str| diagnose(log).1;
    assert!(begins(&format!("{handled}Model loaded in 3.1s\n{memory}")).starts_with("CUDA out of memory"));
    assert!(begins(&format!("UserWarning: {import}{memory}")).starts_with("CUDA out of memory"));
    let reads_key = "what the log says:\n\nb.py, line 2 looked for the key \"tomato\"";
    assert!(begins(&format!("{handled}Model loaded in 3.1s\n{key}")).starts_with(reads_key));
    assert!(begins(&format!("UserWarning: No module named 'librosa'\n{key}")).starts_with(reads_key));
    // Nothing else failed.
    assert!(begins(&format!("{handled}worker: exit status 1\n")).starts_with("ModuleNotFoundError"));
}

#[test]
fn the_end_of_a_program_comes_before_a_warning_that_it_survived() {
    let begins = |log: &str| diagnose(log).1;
    let warning = "UserWarning: The installed version of bitsandbytes was compiled without GPU support. 8-bit \
                   optimizers, 8-bit multiplication, and GPU quantization are unavailable.\n";
    let title = "bitsandbytes was compiled without GPU support";
    let key = "Traceback (most recent call last):\n  File \"b.py\", line 2, in g\nKeyError: 'tomato'\n";
    let reads_key = "what the log says:\n\nb.py, line 2 looked for the key \"tomato\"";
    let many = "Loading the model\n".repeat(10);
    assert!(begins(warning).starts_with(title));
    for log in [format!("{warning}{many}{key}"), format!("{key}{many}{warning}")] {
        assert!(begins(&log).starts_with(reads_key), "{log}");
    }
    let (answer, text) = diagnose(&format!("{warning}{many}Bus error (core dumped)\n"));
    assert!(text.starts_with("what the log says:\n\nThe program ended with SIGBUS"), "{text}");
    assert_eq!(answer["matches"][0]["slug"], "bnb-no-gpu-support");
    // A page of a harmless warning comes after an error that only its own text is known of.
    let harmless = "A matching Triton is not available, some optimizations will not be enabled.\n";
    assert!(begins(harmless).starts_with("A matching Triton is not available"));
    let failed = begins(&format!("{harmless}ERROR:    Application startup failed. Exiting.\n"));
    assert!(
        failed.starts_with("what the log says:\n\nThe program reports: Application startup failed."),
        "{failed}"
    );
    // Of a traceback that is cut off, the last frame is known.
    let cut = key.replace("KeyError: 'tomato'\n", "");
    assert!(
        begins(&format!("{warning}{many}{cut}")).starts_with("what the log says:\n\nA Python program failed")
    );
    // A later warning is no end, and NCCL reports each failure as a warning.
    assert!(begins(&format!("{warning}WARNING: worker ended with exit code 1\n")).starts_with(title));
    let nccl = "init.cc:497 NCCL WARN Duplicate GPU detected : rank 2 and rank 0 both on CUDA device 1000\n";
    assert!(!begins(&format!("{nccl}{many}{key}")).starts_with("what the log says"));
}

#[test]
fn pages_that_only_share_words_are_not_suggested_beside_a_reading() {
    let log = "zsh: no such file or directory: ./main\n";
    let (answer, text) = diagnose(log);
    assert_eq!((&answer["matches"], &answer["readings"][0]["name"]), (&json!([]), &json!("shell-command")));
    assert!(!text.contains("similar pages"), "{text}");
}

#[test]
fn an_exit_code_is_read_only_without_an_exception() {
    let crash = "worker: exit status 0xc0000005\n";
    let exception =
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nValueError: no flux\n";
    assert!(says(crash)[0].contains("STATUS_ACCESS_VIOLATION"));
    assert_eq!(says(&format!("{crash}{exception}")), ["The code in a.py, line 1 raised ValueError: no flux"]);
    // The message of the exception says no more than the exit code.
    let passed_on = says(
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n\
                          RuntimeError: worker ended with exit code -9\n",
    );
    assert!(passed_on[0].contains("SIGKILL"), "{passed_on:?}");
}

/// The readings are left for the script's test, `tests/browser/match.test.mjs`.
#[test]
fn every_sample_is_read_as_its_file_says() {
    let knowledge = Knowledge::read();
    let mut cases = Vec::new();
    for (slug, text, says) in knowledge.reading_samples() {
        let readings = knowledge.readings(text);
        let own = readings.iter().find(|reading| reading.slug == slug);
        assert_eq!(own.map(|reading| reading.says.as_str()), Some(says), "{text}: {readings:#?}");
        cases.push(json!({"text": text, "readings": readings}));
    }
    for (_, text) in knowledge.samples() {
        cases.push(json!({"text": text, "readings": knowledge.readings(text)}));
    }
    let exception = "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nValueError: no flux";
    for quiet in QUIET_LINES {
        for log in [quiet.to_owned(), format!("{quiet}\nError: the potato is not supported\n{exception}\n")] {
            let readings = knowledge.readings(&log);
            cases.push(json!({"text": log, "readings": readings}));
        }
    }
    for log in JOINED_LINES.into_iter().chain(ODD_TRACEBACKS) {
        cases.push(json!({"text": log, "readings": knowledge.readings(log)}));
    }
    let vectors = json!({"table": knowledge.db.index.table(), "cases": cases});
    let written = serde_json::to_string(&vectors).expect("readings are plain data");
    fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/readings.json"), written).expect("they can be written");
}
