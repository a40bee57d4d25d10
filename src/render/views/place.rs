//! What sort of machine a device sits in, told from its class and its product line.

use serde::Serialize;

use crate::site::kinds::DeviceData;

/// Where one meets a device, in the order in which lists name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(in crate::render) enum Place {
    /// A card for a PC.
    Desktop,
    /// Built into a laptop.
    Laptop,
    /// A card for a workstation.
    Workstation,
    /// A card or module for a server.
    DataCenter,
    /// GPU and system share the memory.
    Unified,
    /// Nothing tells where.
    Other,
}

impl Place {
    /// All places, in their order.
    pub const ALL: [Self; 6] =
        [Self::Desktop, Self::Laptop, Self::Workstation, Self::DataCenter, Self::Unified, Self::Other];

    /// Where a device is met. Product lines are named as TechPowerUp's GPU database names them:
    /// `GeForce 40 Mobile`, `Server Hopper(Hxx)`, `Workstation Ada(x000A)`, `Radeon Pro Navi(Navi III Series)`.
    pub fn of(device: &DeviceData) -> Self {
        let line = device.generation.as_deref().unwrap_or_default().to_lowercase();
        let begins = |names: &[&str]| names.iter().any(|name| line.starts_with(name));
        if device.unified {
            Self::Unified
        } else if line.is_empty() {
            Self::Other
        } else if line.contains("mobile") {
            Self::Laptop
        } else if begins(&["server", "tesla", "radeon instinct"]) {
            Self::DataCenter
        } else if begins(&["workstation", "quadro", "radeon pro", "blackwell pro"])
            || line.contains("(pro series)")
        {
            Self::Workstation
        } else {
            Self::Desktop
        }
    }

    /// In words.
    pub fn title(self) -> &'static str {
        match self {
            Self::Desktop => "Desktop",
            Self::Laptop => "Laptop",
            Self::Workstation => "Workstation",
            Self::DataCenter => "Data center",
            Self::Unified => "Unified memory",
            Self::Other => "Other",
        }
    }
}
