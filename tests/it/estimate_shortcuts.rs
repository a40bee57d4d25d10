//! Shortcuts of the estimator do not change results, for every model of the catalog.

use std::path::Path;

use kbgen::load::Drafts;
use kbgen::{fit, load};
use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::placement::Device;
use kbgen_estimate::planner::Planner;
use kbgen_estimate::quantization::{CacheType, Quantization};
use kbgen_estimate::settings::{
    CacheLayout, CachePlacement, ExpertPlacement, FlashAttention, Settings, WindowCache,
};

/// Returns every model that has a page and is covered by the estimator.
fn catalog() -> Vec<(String, Architecture)> {
    let (sources, _) = load::read(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
    let (site, _) = load::pages(&sources, Drafts::Include);
    let models = site.models.iter().filter_map(|page| {
        Some((page.head.id.slug.clone(), fit::architecture(&page.data.architecture).ok()??))
    });
    models.collect()
}

/// Deterministic pseudorandom numbers (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize].clone()
    }
}

/// Settings of all kinds: batches of one token, several GPUs, layers and experts on the CPU.
fn any_settings(model: &Architecture, numbers: &mut Numbers) -> Settings {
    let layers = model.layers.len() as u64;
    let mut settings = Settings::new(numbers.one_of(Quantization::ALL), 1 + numbers.below(model.max_context));
    settings.cache_type_k = numbers.one_of(CacheType::ALL);
    settings.cache_type_v = numbers.one_of(&[settings.cache_type_k, CacheType::F16, CacheType::Q4_0]);
    settings.flash_attention = numbers.one_of(&[FlashAttention::On, FlashAttention::On, FlashAttention::Off]);
    settings.n_ubatch = numbers.one_of(&[1, 7, 32, 100, 512, 512, 2048]);
    settings.sequences = numbers.one_of(&[1, 1, 2, 3, 8]);
    settings.cache_layout = numbers.one_of(&[CacheLayout::Unified, CacheLayout::Separate]);
    settings.n_outputs = numbers.one_of(&[None, Some(1), Some(settings.sequences), Some(64)]);
    settings.tensor_split = numbers.one_of(&[vec![1], vec![1], vec![3, 1], vec![1, 2, 1], vec![]]);
    settings.gpu_layers = numbers.one_of(&[None, None, Some(layers), Some(numbers.0 % (layers + 2))]);
    settings.experts = numbers.one_of(&[
        ExpertPlacement::WithLayer,
        ExpertPlacement::Cpu,
        ExpertPlacement::FirstLayersOnCpu(layers / 3),
        ExpertPlacement::LastLayersOnCpu(layers / 2),
    ]);
    settings.cache_placement =
        numbers.one_of(&[CachePlacement::WithLayer, CachePlacement::WithLayer, CachePlacement::Host]);
    settings.window_cache = numbers.one_of(&[WindowCache::Window, WindowCache::Full]);
    settings
}

#[test]
fn a_replay_of_every_layer_gives_the_same_bytes() {
    let mut numbers = Numbers(0x2545_F491_4F6C_DD1D);
    let models = catalog();
    assert!(models.len() >= 150, "{} models", models.len());
    for (id, model) in &models {
        let (mut quick, mut thorough) = (Planner::new(model), Planner::thorough(model));
        for _ in 0..6 {
            let settings = any_settings(model, &mut numbers);
            assert_eq!(quick.estimate(&settings), thorough.estimate(&settings), "{id} with {settings:?}");
        }
    }
}

#[test]
fn curves_of_every_layer_are_the_same() {
    for (id, model) in catalog().iter().step_by(5) {
        let (mut quick, mut thorough) = (Planner::new(model), Planner::thorough(model));
        for (slots, outputs, kind) in
            [(1, None, CacheType::F16), (4, Some(4), CacheType::Q8_0), (8, None, CacheType::Q4_0)]
        {
            let mut settings = Settings::new(Quantization::Q4_K_M, 1);
            (settings.cache_type_k, settings.cache_type_v) = (kind, CacheType::Q8_0);
            (settings.sequences, settings.n_outputs) = (slots, outputs);
            settings.cache_layout = CacheLayout::Unified;
            assert_eq!(quick.segments(&settings), thorough.segments(&settings), "{id} with {settings:?}");
        }
    }
}

#[test]
fn earlier_estimates_do_not_change_results() {
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    for (id, model) in catalog().iter().step_by(7) {
        let mut asked = Planner::new(model);
        for _ in 0..20 {
            let settings = any_settings(model, &mut numbers);
            assert_eq!(
                asked.estimate(&settings),
                Planner::new(model).estimate(&settings),
                "{id} {settings:?}"
            );
        }
    }
}

/// Cache and state never shrink, and the weights stay. The compute buffer may shrink in
/// llama.cpp itself, where a larger tensor no longer fits into a gap and leaves it to others,
/// or where each of several separate sequences has a shorter context: with Granite 4.0 H Small,
/// four separate sequences, a q8_0 cache and micro-batches of 2,048 tokens the GPU needs
/// 21,814,038,656 bytes at 31,744 tokens of context and 21,341,655,168 at 32,768. No fall of
/// more than 2.2 % of a GPU's need was found in a million runs.
#[test]
fn more_context_slots_or_micro_batch_never_needs_less_but_for_the_compute_buffer() {
    for (id, model) in &catalog() {
        let mut planner = Planner::new(model);
        let base =
            Settings { cache_layout: CacheLayout::Unified, ..Settings::new(Quantization::Q4_K_M, 8192) };
        let context = [4096, 5000, 16384, 65536].map(|tokens| base.at_context(tokens)).to_vec();
        let slots = [1, 2, 3, 4, 8].map(|sequences| Settings { sequences, ..base.clone() }).to_vec();
        let batch = [64, 128, 512, 2048].map(|n_ubatch| Settings { n_ubatch, ..base.clone() }).to_vec();
        for runs in [context, slots, batch] {
            let needs: Vec<_> = runs.iter().map(|run| planner.estimate(run).unwrap()).collect();
            for pair in needs.windows(2) {
                let [less, more] = [0, 1].map(|place| *pair[place].device(Device::Gpu(0)).unwrap());
                assert_eq!(more.weights, less.weights, "{id}");
                assert!(more.cache.bytes >= less.cache.bytes, "{id}");
                assert!(
                    more.total().0 >= less.total().0 / 100 * 97,
                    "{id}: {} < {}",
                    more.total(),
                    less.total()
                );
            }
        }
    }
}

#[test]
fn device_needs_add_up_for_any_placement() {
    for (id, model) in catalog().iter().step_by(3) {
        let mut planner = Planner::new(model);
        let sums = |planner: &mut Planner<'_>, split: Vec<u64>, gpu_layers| {
            let settings =
                Settings { tensor_split: split, gpu_layers, ..Settings::new(Quantization::Q4_K_M, 8192) };
            let need = planner.estimate(&settings).unwrap();
            let total: Bytes = need.devices.iter().map(|device| device.total()).sum();
            let parts = need
                .devices
                .iter()
                .map(|device| device.weights.bytes + device.cache.bytes + device.compute.bytes);
            assert_eq!(total, parts.sum(), "{id}");
            need.devices.iter().map(|device| device.cache.bytes).sum::<Bytes>()
        };
        let one = sums(&mut planner, vec![1], None);
        // The f16 cache size is a multiple of every alignment.
        assert_eq!(sums(&mut planner, vec![2, 1], None), one, "{id}");
        assert_eq!(sums(&mut planner, vec![1, 1, 1], Some(5)), one, "{id}");
        assert_eq!(sums(&mut planner, vec![], None), one, "{id}");
    }
}
