//! Visible memory of devices does not exceed the memory reported by programs.

use kbgen::load;
use kbgen::load::Drafts;
use kbgen::site::DeviceMemory;
use kbgen::site::kinds::{System, Vendor};
use kbgen_estimate::planner::Planner;
use kbgen_estimate::quantization::Quantization;
use kbgen_estimate::settings::Settings;

use crate::expect::repository;

/// Lowest total memory reported on the device, in MiB.
const SEEN: [(&str, u64); 12] = [
    ("geforce-rtx-4090", 24_080),
    ("geforce-rtx-5090", 32_106),
    ("geforce-rtx-3090", 24_121),
    ("geforce-rtx-3060-12-gb", 11_906),
    ("geforce-rtx-5060-ti-16-gb", 15_825),
    ("geforce-rtx-2060", 5738),
    ("geforce-rtx-3080", 10_002),
    ("geforce-gtx-1080-ti", 11_165),
    ("rtx-pro-6000-blackwell", 97_247),
    ("tesla-t4", 14_909),
    ("l4", 22_563),
    ("h100-sxm5-80-gb", 81_081),
];

#[test]
fn no_device_is_counted_with_more_memory_than_programs_see() {
    let (sources, _) = load::read(&repository("")).unwrap();
    let (site, _) = load::pages(&sources, Drafts::Exclude);
    for (slug, seen) in SEEN {
        let page = site.devices.iter().find(|page| page.head.id.slug == slug).unwrap();
        let visible = page.data.visible_bytes() >> 20;
        assert!(visible <= seen && visible * 100 >= seen * 94, "{slug}: {visible} of {seen} MiB");
    }
    for page in site.devices.iter().filter(|page| page.data.is_cuda()) {
        let (visible, memory) = (page.data.visible_bytes(), page.data.memory_bytes());
        assert!(visible < memory && visible > memory / 10 * 8, "{}", page.head.id.slug);
        assert!(site.visible_of_size(memory) <= visible);
    }
}

#[test]
fn every_system_shows_at_most_what_a_program_reported_on_it() {
    let (sources, _) = load::read(&repository("")).unwrap();
    let (site, _) = load::pages(&sources, Drafts::Exclude);
    let mut reports = 0;
    for page in &site.devices {
        let slug = &page.head.id.slug;
        for report in &page.data.visible {
            let memory = (report.memory_gb.unwrap_or(page.data.memory_gb) * 1_073_741_824.0) as u64;
            let systems = page.data.systems().iter().filter(|own| report.system.is_none_or(|on| on == **own));
            let mut count = 0;
            for system in systems {
                let visible = page.data.visible_on(&[*system], memory).low.0 >> 20;
                assert!(visible <= report.mib.unsigned_abs(), "{slug} on {}: {visible} MiB", system.name());
                count += 1;
            }
            assert!(count > 0, "{slug} does not run with the system of a report");
            reports += count;
        }
        if page.data.vendor == Vendor::Intel && page.data.unified {
            let memory = page.data.memory_bytes();
            let percent = |system| page.data.visible_on(&[system], memory).high.0 * 100 / memory;
            assert!(percent(System::Windows) <= 57 && percent(System::Linux) <= 75, "{slug}");
        }
        if page.data.vendor == Vendor::Nvidia && page.data.is_cuda() {
            let on = |system| page.data.visible_on(&[system], page.data.memory_bytes()).low;
            assert!(on(System::Windows) >= on(System::Linux), "{slug}");
        }
    }
    assert!(reports >= 180, "{reports} reports");
}

#[test]
fn every_device_has_a_verdict_on_each_of_its_systems() {
    let (sources, _) = load::read(&repository("")).unwrap();
    let (site, _) = load::pages(&sources, Drafts::Exclude);
    let page = site.models.iter().find(|page| page.head.id.slug == "llama-3.1-8b-instruct").unwrap();
    let model = kbgen::fit::architecture(&page.data.architecture).unwrap().unwrap();
    let settings = Settings::new(Quantization::Q4_K_M, 8192);
    let mut fitting = 0;
    for device in &site.devices {
        let backends = device.data.backends();
        let need = Planner::new(&model).on_backends(vec![backends]).plan(&settings).unwrap();
        for system in device.data.systems() {
            let visible = device.data.visible_on(&[*system], device.data.memory_bytes());
            let verdict = DeviceMemory::new(backends, visible).verdict(need.devices[0].total_range());
            fitting += usize::from(verdict.name() == "fits");
        }
    }
    assert!(site.devices.len() >= 326, "{} devices", site.devices.len());
    assert!(fitting > 300, "{fitting}");
}
