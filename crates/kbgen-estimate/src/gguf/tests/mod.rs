//! Files of the measured models, created from their tensor lists, need the same bytes as the models.

use std::{env, fs};

use crate::estimator::Estimate;
use crate::fields::ArchitectureFields;
use crate::gguf::{FileError, Header, ModelFile};
use crate::header_error::HeaderError;
use crate::planner::Planner;
use crate::quantization::{CacheType, Quantization, TensorType};
use crate::settings::{ExpertPlacement, Settings};

use rows::{MODELS, fields, models, rows};
use writer::{Writer, header};

#[path = "../../../tests/it/rows.rs"]
mod rows;
mod writer;

const FILES: &str = include_str!("../../../tests/data/measured_files.csv");

fn read(file: &Writer) -> ModelFile {
    ModelFile::new(&Header::read(file.bytes().as_slice()).unwrap()).unwrap()
}

#[test]
fn a_file_needs_what_its_model_needs() {
    let settings = [
        Settings::new(Quantization::Q4_K_M, 8192),
        Settings {
            cache_type_k: CacheType::Q8_0,
            cache_type_v: CacheType::Q8_0,
            ..Settings::new(Quantization::F16, 20_000)
        },
        Settings { gpu_layers: Some(7), ..Settings::new(Quantization::F16, 4096) },
        Settings { experts: ExpertPlacement::FirstLayersOnCpu(5), ..Settings::new(Quantization::F16, 4096) },
        Settings { tensor_split: vec![3, 2], ..Settings::new(Quantization::F16, 4096) },
    ];
    let bytes = |estimate: &Estimate| -> Vec<[u64; 3]> {
        let parts = |device: &crate::estimator::DeviceEstimate| {
            [device.weights.bytes.0, device.cache.bytes.0, device.compute.bytes.0]
        };
        estimate.devices.iter().map(parts).collect()
    };
    let models = models();
    for row in rows(MODELS) {
        let (slug, fields) = (&row["id"], fields(&row));
        let model = &models[slug];
        for quantization in [Quantization::Q4_K_M, Quantization::IQ3_XXS, Quantization::F16] {
            let file = read(&header(&fields, model, quantization));
            assert_eq!(file.unknown_architecture, None);
            for settings in &settings {
                let settings = Settings { quantization, ..settings.clone() };
                let of_model = Planner::new(model).estimate(&settings).unwrap();
                // the quantization of the settings does not matter
                let of_file = Planner::of_file(&file.architecture, &file)
                    .estimate(&Settings { quantization: Quantization::Q8_0, ..settings.clone() })
                    .unwrap();
                assert_eq!(bytes(&of_file), bytes(&of_model), "{slug} {quantization} {settings:?}");
            }
        }
    }
}

#[test]
fn a_file_has_the_bytes_that_llama_cpp_counts() {
    let (models, measured) = (models(), rows(MODELS));
    let mut files = 0;
    for row in rows(FILES) {
        let Ok(quantization) = row["quant"].parse::<Quantization>() else { continue };
        let slug = &row["catalogue_id"];
        let hyperparameters = measured.iter().find(|model| model["id"] == *slug).unwrap();
        let file = read(&header(&fields(hyperparameters), &models[slug], quantization));
        assert_eq!(file.data.0.to_string(), row["bytes"], "{slug} {quantization}");
        files += 1;
    }
    assert!(files > 100, "{files}");
}

#[test]
fn headers_of_the_measured_models_are_left_for_the_script_of_the_page() {
    // unit tests have no `CARGO_TARGET_TMPDIR`
    let folder = env::current_exe().unwrap().ancestors().nth(3).unwrap().join("tmp/gguf");
    fs::create_dir_all(&folder).unwrap();
    let models = models();
    for row in rows(MODELS) {
        let (slug, fields) = (&row["id"], fields(&row));
        let mut file = header(&fields, &models[slug], Quantization::Q4_K_M);
        file.number("general.file_type", 15);
        fs::write(folder.join(format!("{slug}.gguf")), file.bytes()).unwrap();
    }
}

/// A small Llama.
fn small() -> Writer {
    let fields = ArchitectureFields {
        name: "llama".into(),
        layers: "F2".into(),
        hidden: 256,
        heads: 4,
        kv_heads: 2,
        ffn: 512,
        vocab: 1000,
        max_ctx: 8192,
        ..ArchitectureFields::default()
    };
    header(&fields, &fields.build().unwrap(), Quantization::Q4_0)
}

#[test]
fn every_tensor_type_counts_its_blocks() {
    // bytes of a row of 512 elements, from the block sizes in llama.cpp's `gguf-py/gguf/constants.py`
    let rows = [
        (0, 2048),
        (1, 1024),
        (2, 288),
        (3, 320),
        (6, 352),
        (7, 384),
        (8, 544),
        (10, 168),
        (11, 220),
        (12, 288),
        (13, 352),
        (14, 420),
        (16, 132),
        (17, 148),
        (18, 196),
        (19, 100),
        (20, 288),
        (21, 220),
        (22, 164),
        (23, 272),
        (24, 512),
        (25, 1024),
        (26, 2048),
        (27, 4096),
        (28, 4096),
        (29, 112),
        (30, 1024),
        (34, 108),
        (35, 132),
        (39, 272),
        (40, 288),
        (41, 72),
    ];
    for (kind, row) in rows {
        let mut file = small();
        let before = read(&file).data.0;
        file.tensor("blk.1.extra.weight", &[512, 3], kind);
        assert_eq!(read(&file).data.0 - before, 3 * row, "type {kind}");
    }
    assert_eq!(rows.len(), TensorType::in_files().count());
}

#[test]
fn layers_that_predict_further_tokens_are_not_loaded() {
    let mut file = small();
    let before = read(&file);
    file.number("llama.nextn_predict_layers", 1);
    let [one_layer_less, two] = [read(&file), before];
    assert_eq!(one_layer_less.data, two.data);
    assert!(one_layer_less.not_loaded.0 > 0);
    assert_eq!(one_layer_less.architecture.layers.len(), 1);
}

#[test]
fn an_unknown_architecture_has_exact_weights_and_llamas_graph() {
    let known = read(&small());
    // a name of the same length leaves all lengths as they are
    let mut renamed = small().bytes();
    let places: Vec<usize> = (0..renamed.len() - 5).filter(|at| &renamed[*at..at + 5] == b"llama").collect();
    places.iter().for_each(|at| renamed[*at] = b'x');
    let file = ModelFile::new(&Header::read(renamed.as_slice()).unwrap()).unwrap();
    assert_eq!(file.unknown_architecture.as_deref(), Some("xlama"));
    assert_eq!(file.data, known.data);
}

#[test]
fn what_is_no_model_is_refused_with_its_kind() {
    let refused = |kind: &str, name: &str| {
        let mut file = Writer::default();
        file.string("general.type", kind);
        file.string("general.architecture", name);
        ModelFile::new(&Header::read(file.bytes().as_slice()).unwrap()).unwrap_err()
    };
    assert_eq!(refused("mmproj", "clip"), FileError::NotAModel("mmproj".to_owned()));
    assert_eq!(refused("model", "clip"), FileError::NotAModel("clip".to_owned()));
    assert_eq!(refused("adapter", "llama"), FileError::NotAModel("adapter".to_owned()));
    assert!(matches!(refused("model", "llama"), FileError::Sizes(_)));
    let mut file = small();
    file.number("llama.block_count", u32::MAX.into());
    let error = ModelFile::new(&Header::read(file.bytes().as_slice()).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "invalid model metadata: `layers`: with `F4294967295`, more than 1024 layers"
    );
}

#[test]
fn damaged_files_are_refused_in_bounded_time_and_memory() {
    let good = small().bytes();
    for length in 0..good.len() {
        let error = Header::read(&good[..length]).unwrap_err();
        assert!(matches!(error, HeaderError::Truncated), "{length}: {error}");
    }
    let with = |at: usize, bytes: &[u8]| {
        let mut file = good.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        Header::read(file.as_slice()).map(|_| ()).unwrap_err().to_string()
    };
    let huge = (1_u64 << 60).to_le_bytes();
    for (at, bytes, message) in [
        (0, b"GGML".as_slice(), "not a GGUF file: it begins with `GGML`"),
        (4, &1_u32.to_le_bytes(), "GGUF version 1, which llama.cpp no longer loads"),
        (4, &3_u32.to_be_bytes(), "GGUF in big-endian order, which this machine does not load"),
        (4, &9_u32.to_le_bytes(), "unknown GGUF version 9"),
        (8, &huge, "1152921504606846976 tensors are more than any model has"),
        (16, &huge, "1152921504606846976 metadata entries are more than any model has"),
        (24, &huge, "a key of 1152921504606846976 bytes"),
    ] {
        assert_eq!(with(at, bytes), message);
    }
    let mut nested = Writer::default();
    nested.entry("a", 9);
    for _ in 0..40 {
        nested.metadata.extend(9_u32.to_le_bytes());
        nested.metadata.extend((1_u64 << 40).to_le_bytes());
    }
    assert_eq!(
        Header::read(nested.bytes().as_slice()).unwrap_err().to_string(),
        "an array of the unknown type 9"
    );
    for dimensions in [
        vec![1 << 40, 1 << 40],
        vec![u64::MAX; 4],
        vec![1; 5],
        vec![0, u64::MAX, u64::MAX],
        vec![u64::MAX, 0],
    ] {
        let mut file = small();
        file.tensor("t", &dimensions, 0);
        assert!(
            matches!(Header::read(file.bytes().as_slice()), Err(HeaderError::Invalid(_))),
            "{dimensions:?}"
        );
    }
    let mut file = small();
    for number in 0..40_000 {
        file.tensor(&format!("t.{number}"), &[1, 1 << 42], 14);
    }
    let error = Header::read(file.bytes().as_slice()).unwrap_err();
    assert_eq!(error.to_string(), "the tensors have more data than those of any model");
    let part = || {
        let mut part = small();
        part.tensor("t", &[1 << 40], 28);
        Header::read(part.bytes().as_slice()).unwrap()
    };
    let mut parts = part();
    (0..100).for_each(|_| parts.append(part()));
    assert_eq!(ModelFile::new(&parts).unwrap_err(), FileError::TooLarge);
    let mut file = small();
    file.tensor("t", &[32], 99);
    let error = Header::read(file.bytes().as_slice()).unwrap_err();
    assert_eq!(error.to_string(), "tensor `t` has the type 99, which kbgen does not know");
}
