//! kbgen: a static-site generator for an errors knowledge base.
//!
//! The modules, from the top down; `ARCHITECTURE.md` says what each may use. They are private, so
//! that the compiler tells when nobody uses a name any more. [`run`] is the program.

mod cache;
mod check;
mod cli;
mod compress;
mod config;
mod diag;
mod diagnosis;
mod emit;
mod escape;
mod estimate;
mod files;
mod fit;
mod hosts;
mod link;
mod load;
mod markdown;
mod pipeline;
mod render;
mod schema;
mod serve;
mod signature;
mod site;
mod store;
mod texts;
mod unicode_safety;
mod watch;

pub use cli::run;

/// The names that the tests take in hand, module by module; nothing else is promised to anyone.
pub mod parts {
    /// What runs leave to each other.
    pub mod cache {
        pub use crate::cache::Cache;
    }

    /// Every judgment on content.
    pub mod check {
        pub use crate::check::{ALL, MARKUP_RULES};
    }

    /// What commands read.
    pub mod cli {
        pub use crate::cli::answer_all;
    }

    /// `site.toml`.
    pub mod config {
        pub use crate::config::RULES;
    }

    /// Findings, and their forms.
    pub mod diag {
        pub use crate::diag::{Diagnostic, Rule, github, human, json, sarif, summary};
        pub use crate::escape::ColorChoice;
    }

    /// What a log says.
    pub mod diagnosis {
        pub use crate::diagnosis::{Answer, Asked, Book, Compiled, Evidence, answers, documents};
    }

    /// Writing a site.
    pub mod emit {
        pub use crate::emit::{
            MARKER, Permission, Publication, Published, Record, Report, Single, Target, write,
        };
    }

    /// Memory arithmetic.
    pub mod estimate {
        pub use crate::estimate::architecture::Architecture;
        pub use crate::estimate::bytes::Bytes;
        pub use crate::estimate::checkpoint::{WeightType, weight_bytes};
        pub use crate::estimate::estimator::{
            DeviceEstimate, Estimate, Evidence, estimate, file_bytes, tensor_counts,
        };
        pub use crate::estimate::fields::ArchitectureFields;
        pub use crate::estimate::fitting::{
            Available, best_quantization, fewest_cpu_experts, largest_context, most_gpu_layers,
        };
        pub use crate::estimate::parameters::{ParameterCount, parameter_count};
        pub use crate::estimate::placement::Device;
        pub use crate::estimate::planner::Planner;
        pub use crate::estimate::quantization::{CacheType, Quantization};
        pub use crate::estimate::segments::{cells_of, device_segments, segments, value_at};
        pub use crate::estimate::settings::{
            CacheLayout, CachePlacement, ExpertPlacement, FlashAttention, Settings, WindowCache,
        };
        pub use crate::estimate::speed::{Band, CacheRead, SpeedClass, SpeedKind, weight_bytes_read};
        pub use crate::estimate::transformers::transformers;
        pub use crate::estimate::vllm::{
            DEFAULT_UTILIZATION, VllmCache, VllmSettings, VllmVerdict, request_bytes, vllm,
        };
    }

    /// Sources and outputs.
    pub mod files {
        pub use crate::files::{Memory, Outputs, Sources};
    }

    /// The fit table.
    pub mod fit {
        pub use crate::fit::{RULES, architecture, figures};
    }

    /// Reading a site.
    pub mod load {
        pub use crate::load::{Drafts, RULES, pages, read};
    }

    /// Markdown.
    pub mod markdown {
        pub use crate::markdown::{
            Call, Fault, Figure, LANGUAGES, Picture, Pieces, highlight, inline, is_reserved_id, outline,
            outline_inline, plain, plain_inline, render,
        };
    }

    /// The whole build.
    pub mod pipeline {
        pub use crate::pipeline::{
            Built, Edited, Edition, Made, Order, Whole, build, bundle, pictures, render, rules, understand,
        };
    }

    /// Files made of a site.
    pub mod render {
        pub use crate::render::{Audience, BUNDLE_MARK, RULES};
    }

    /// Fields of front matter.
    pub mod schema {
        pub use crate::schema::RULES;
    }

    /// The server.
    pub mod serve {
        pub use crate::serve::{
            Changes, Event, Limits, Open, Rebuild, Retouch, Retouched, Running, ServeOptions, StallLimit,
            Tracker, start,
        };
    }

    /// The knowledge base as data.
    pub mod site {
        pub use crate::site::{Division, Figures, Kind, Names, ProseCall, Run, Runner, Site, Verdict};
    }

    /// Texts of the interface.
    pub mod texts {
        pub use crate::texts::{Part, calls, parts};
    }

    /// Results of earlier work.
    pub mod store {
        pub use crate::store::{Kind, Store};
    }

    /// What a build tells of itself.
    pub mod watch {
        pub use crate::watch::{Stage, Unwatched, Watch};
    }

    /// Patterns and words.
    pub mod signature {
        pub use crate::signature::{
            Cause, Diagnosis, Document, Expression, Figure, Figures, Index, Kind, Match, NEAR, Page, Pattern,
            STEPS, Signature, Table, Template, WordIndex,
        };
    }
}
