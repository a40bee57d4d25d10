//! Page of a model from the header of its file.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use kbgen_estimate::family::Family;
use kbgen_estimate::field::FieldValue;
use kbgen_estimate::fields::ArchitectureFields;
use kbgen_estimate::gguf::architecture_fields;
use kbgen_estimate::parameters::parameter_count;

use crate::cli::fit::remote::{Fetched, FileKind, fetch, is_address, needs_fetch};
use crate::cli::fit::{checkpoint_dir, model_file};
use crate::cli::new::pages::scalar;

/// Formats the page of a model with the hyperparameters of a GGUF file, of the checkpoint in a folder, or, if `is_fetching`, of
/// either at an address.
///
/// # Errors
/// If the file cannot be read, or its architecture is unknown.
pub(super) fn page(title: &str, from: &str, is_fetching: bool) -> Result<String> {
    let (fields, id) = match checkpoint_dir::folder_of(from) {
        _ if is_address(from) && !is_fetching => bail!("{}", needs_fetch(from)),
        _ if is_address(from) => match fetch(from, FileKind::Model)? {
            Fetched::File { header, .. } => (architecture_fields(&header), None),
            Fetched::Checkpoint { repository, fields, .. } => (*fields, Some(repository)),
        },
        Some(folder) => (checkpoint_dir::read(Path::new(&folder))?.0, None),
        None => (architecture_fields(&model_file::read_headers(from)?.1), None),
    };
    let (id, source) = match id {
        Some(id) => (id.clone(), format!("https://huggingface.co/{id}")),
        None => ("⟦owner/name⟧".to_string(), "⟦https://huggingface.co/owner/name⟧".to_string()),
    };
    if Family::named(&fields.name).is_none() {
        return Err(anyhow!("{from}: unknown architecture `{}`; no page can describe it", fields.name));
    }
    let architecture = fields.build().map_err(|error| anyhow!("{from}: invalid model sizes: {error}"))?;
    let parameters = parameter_count(&architecture).held;
    let mut text = format!(
        "---\ndraft: true\ntitle: {}\nhf_id: {id}\nfamily: ⟦family⟧\nparameters: {parameters}\narchitecture:\n",
        scalar(title)?
    );
    let defaults = ArchitectureFields::default();
    for field in ArchitectureFields::ALL {
        let value = (field.get)(&fields);
        if !field.is_required && value == (field.get)(&defaults) {
            continue;
        }
        let value = match value {
            FieldValue::Text(text) => scalar(&text)?,
            FieldValue::Count(count) => count.to_string(),
            FieldValue::Flag(flag) => flag.to_string(),
        };
        text.push_str(&format!("  {}: {value}\n", field.name));
    }
    text.push_str(&format!("sources: [\"{source}\"]\n---\n"));
    Ok(text)
}
