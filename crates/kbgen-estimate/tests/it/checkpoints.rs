//! Reads generated checkpoints of Hugging Face, and damaged ones.

use std::fmt::Write;
use std::io::{self, Read};

use kbgen_estimate::checkpoint::{WeightType, weight_bytes};
use kbgen_estimate::fields::ArchitectureFields;
use kbgen_estimate::huggingface::{Checkpoint, StoredTensor, model_fields, read_header, read_index};

use kbgen_estimate::header_error::HeaderError;

use crate::rows::{MODELS, fields, rows};

/// Returns a file with this header and no data.
fn file(header: &str) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat()
}

/// Returns a header of BF16 tensors.
fn header(tensors: &[(String, Vec<u64>)]) -> String {
    let mut text = String::from("{\"__metadata__\":{\"format\":\"pt\"}");
    let mut start = 0;
    for (name, shape) in tensors {
        let end = start + 2 * shape.iter().product::<u64>();
        write!(
            text,
            ",\"{name}\":{{\"dtype\":\"BF16\",\"shape\":{shape:?},\"data_offsets\":[{start},{end}]}}"
        )
        .unwrap();
        start = end;
    }
    text + "}"
}

/// Returns the tensors of a dense model under their names in a checkpoint.
fn tensors(model: &ArchitectureFields) -> Vec<(String, Vec<u64>)> {
    let head = if model.head_dim == 0 { model.hidden / model.heads } else { model.head_dim };
    let (hidden, query, key) = (model.hidden, model.heads * head, model.kv_heads * head);
    let mut all = vec![("model.embed_tokens.weight".to_owned(), vec![model.vocab, hidden])];
    for layer in 0..model.layer_count() {
        let mut add = |name: &str, shape: &[u64]| {
            all.push((format!("model.layers.{layer}.{name}"), shape.to_vec()));
        };
        add("self_attn.q_proj.weight", &[query, hidden]);
        add("self_attn.k_proj.weight", &[key, hidden]);
        add("self_attn.v_proj.weight", &[key, hidden]);
        add("self_attn.o_proj.weight", &[hidden, query]);
        if model.qkv_bias {
            add("self_attn.q_proj.bias", &[query]);
            add("self_attn.k_proj.bias", &[key]);
            add("self_attn.v_proj.bias", &[key]);
        }
        if model.qk_norm == "head" {
            add("self_attn.q_norm.weight", &[head]);
            add("self_attn.k_norm.weight", &[head]);
        }
        add("mlp.gate_proj.weight", &[model.ffn, hidden]);
        add("mlp.up_proj.weight", &[model.ffn, hidden]);
        add("mlp.down_proj.weight", &[hidden, model.ffn]);
        add("input_layernorm.weight", &[hidden]);
        add("post_attention_layernorm.weight", &[hidden]);
    }
    all.push(("model.norm.weight".to_owned(), vec![hidden]));
    if !model.tied {
        all.push(("lm_head.weight".to_owned(), vec![model.vocab, hidden]));
    }
    all
}

fn read(tensors: &[(String, Vec<u64>)]) -> Vec<StoredTensor> {
    read_header(file(&header(tensors)).as_slice()).unwrap()
}

#[test]
fn a_checkpoint_has_the_hyperparameters_and_weights_of_its_model() {
    let ids = ["llama-3.1-8b-instruct", "llama-3.2-1b-instruct", "qwen2.5-7b-instruct", "qwen3-4b"];
    let models = rows(MODELS);
    for id in ids {
        let row = models.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("{id} was measured"));
        let model = fields(row);
        let stored = read(&tensors(&model));
        let config = format!(
            "{{\"model_type\":\"{}\",\"hidden_size\":{},\"intermediate_size\":{},\"num_hidden_layers\":{},\
             \"num_attention_heads\":{},\"num_key_value_heads\":{},\"head_dim\":{},\"vocab_size\":{},\
             \"max_position_embeddings\":{}}}",
            model.name,
            model.hidden,
            model.ffn,
            model.layer_count(),
            model.heads,
            model.kv_heads,
            model.head_dim,
            model.vocab,
            model.max_ctx
        );
        let found = model_fields(config.as_bytes(), &stored).unwrap();
        assert_eq!(found.build().unwrap(), model.build().unwrap(), "{id}");
        let checkpoint = Checkpoint {
            tensors: stored,
            layers: model.layer_count(),
            kv_heads: model.kv_heads,
            total_size: None,
        };
        let of_index = Checkpoint { total_size: Some(checkpoint.bytes()), ..checkpoint.clone() };
        let architecture = model.build().unwrap();
        for cards in [1, 2] {
            let expected = weight_bytes(&architecture, WeightType::Bf16, cards).unwrap().0;
            // vLLM pads the vocabulary to 64 rows
            let padding = if cards == 1 { 0 } else { 4 * 64 * model.hidden };
            for known in [&checkpoint, &of_index] {
                let bytes = known.bytes_on_card(&architecture, cards).unwrap();
                assert!(bytes.abs_diff(expected) <= padding, "{id} on {cards}");
            }
        }
    }
}

#[test]
fn a_mamba_layer_is_as_wide_as_its_configuration_says() {
    let model = fields(rows(MODELS).iter().find(|row| row["id"] == "granite-4.0-h-tiny").unwrap());
    let config = "{\"model_type\":\"granitemoehybrid\",\"hidden_size\":1536,\"num_hidden_layers\":2,\
        \"num_attention_heads\":12,\"num_key_value_heads\":4,\"shared_intermediate_size\":1024,\
        \"vocab_size\":100352,\"max_position_embeddings\":131072,\"layer_types\":[\"mamba\",\"attention\"],\
        \"mamba_d_conv\":4,\"mamba_d_head\":64,\"mamba_d_state\":128,\"mamba_expand\":2,\
        \"mamba_n_groups\":1,\"mamba_n_heads\":48}";
    let found = model_fields(config.as_bytes(), &[]).unwrap();
    assert_eq!(found.layers, "R1F1");
    let ssm = |fields: &ArchitectureFields| {
        [fields.ssm_conv, fields.ssm_inner, fields.ssm_state, fields.ssm_dt_rank, fields.ssm_groups]
    };
    assert_eq!(ssm(&found), ssm(&model));
}

#[test]
fn layers_that_predict_several_tokens_are_not_loaded() {
    let weight = |name: &str| (name.to_owned(), vec![10, 10]);
    let names =
        ["model.layers.0.a.weight", "model.layers.1.a.weight", "mtp.fc.weight", "model.visual.a.weight"];
    let stored = read(&names.map(weight));
    let checkpoint = Checkpoint { tensors: stored, layers: 1, kv_heads: 2, total_size: None };
    let model = fields(&rows(MODELS)[0]).build().unwrap();
    assert_eq!(checkpoint.bytes(), 800);
    assert_eq!(checkpoint.bytes_on_card(&model, 1), Ok(400));
    assert_eq!(checkpoint.bytes_on_card(&model, 2), Ok(300), "a vision tower is on every card");
}

/// Infinite input.
struct Endless;

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        buffer.fill(b' ');
        Ok(buffer.len())
    }
}

#[test]
fn damaged_headers_are_refused_with_the_reason() {
    let refusal = |bytes: &[u8]| match read_header(bytes).unwrap_err() {
        HeaderError::Invalid(problem) => problem,
        other => other.to_string(),
    };
    assert_eq!(refusal(b""), "the file ends within its header");
    let huge = (1_u64 << 60).to_le_bytes();
    assert_eq!(refusal(&huge), "not a safetensors file: its header would have 1152921504606846976 bytes");
    let whole = file(&header(&[("a".to_owned(), vec![2, 3])]));
    assert_eq!(read_header(whole.as_slice()).unwrap()[0].bytes, 12);
    for end in 0..whole.len() {
        assert_eq!(refusal(&whole[..end]), "the file ends within its header", "after {end} bytes");
    }
    let cases = [
        ("[]", "not a safetensors header: invalid type: sequence"),
        ("{\"a\":1}", "not a safetensors header: tensor `a`: invalid type"),
        (
            "{\"a\\n\":{\"dtype\":\"X\",\"shape\":[],\"data_offsets\":[0,1]}}",
            "tensor `a\\n` has the unknown type `X`",
        ),
        (
            "{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,1]}}",
            "tensor `a` has a shape that does not agree",
        ),
        ("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,1]}}", "tensor `a` has a shape that"),
        (
            "{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]}}",
            "tensor `a` has 9",
        ),
    ];
    let huge = |name: u32| {
        format!(
            "\"{name}\":{{\"dtype\":\"U8\",\"shape\":[1152921504606846976],\"data_offsets\":[0,1152921504606846976]}}"
        )
    };
    let many = format!("{{{}}}", (0..40).map(huge).collect::<Vec<_>>().join(","));
    assert_eq!(refusal(&file(&many)), "the tensors have more data than those of any model");
    for (text, expected) in cases {
        let problem = refusal(&file(text));
        assert!(problem.starts_with(expected), "{text}: {problem}");
    }
    let deep = "[".repeat(100_000);
    assert!(refusal(&file(&format!("{{\"a\":{deep}"))).starts_with("not a safetensors header"));
    // a length within the limit, but endless input: no more is read than the length declares
    let length = 1_000_000_u64.to_le_bytes();
    let endless = length.as_slice().chain(Endless);
    assert!(read_header(endless).unwrap_err().to_string().starts_with("not a safetensors header"));
}

#[test]
fn an_index_names_files_of_its_own_folder_only() {
    let index = |files: &str| format!("{{\"metadata\":{{}},\"weight_map\":{{{files}}}}}");
    let two = index("\"a\":\"m-2.safetensors\",\"b\":\"m-1.safetensors\",\"c\":\"m-2.safetensors\"");
    assert_eq!(read_index(two.as_bytes()).unwrap().files, ["m-1.safetensors", "m-2.safetensors"]);
    for name in ["../m", "/etc/m", "a\\\\b", "c:m", ".m"] {
        let outside = index(&format!("\"a\":\"{name}\""));
        assert!(read_index(outside.as_bytes()).unwrap_err().to_string().contains("no file name"), "{name}");
    }
    assert!(read_index(&b"{}"[..]).unwrap_err().to_string().starts_with("not an index"));
    assert!(read_index(index("").as_bytes()).unwrap_err().to_string().contains("no file"));
}

#[test]
fn a_configuration_without_sizes_is_refused() {
    let refusal = |text: &str| match model_fields(text.as_bytes(), &[]) {
        Err(error) => error.to_string(),
        Ok(fields) => fields.build().unwrap_err().to_string(),
    };
    assert!(refusal("{").starts_with("not a configuration"));
    assert!(refusal("[]").starts_with("not a configuration"));
    assert_eq!(refusal("{}"), "the configuration has no `model_type`");
    assert!(refusal("{\"model_type\":\"llama\"}").contains("layers"));
    let huge = "{\"model_type\":\"llama\",\"num_hidden_layers\":1152921504606846976}";
    assert_eq!(refusal(huge), "`num_hidden_layers` is 1152921504606846976");
    let wide = "{\"model_type\":\"qwen3_moe\",\"num_hidden_layers\":2,\"n_shared_experts\":18446744073709551615,\
                \"num_experts\":2,\"moe_intermediate_size\":9223372036854775807}";
    assert!(!refusal(wide).is_empty());
}
