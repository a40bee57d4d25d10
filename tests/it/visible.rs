//! Visible memory of devices does not exceed the memory reported by programs.

use kbgen::load;
use kbgen::load::Drafts;

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
