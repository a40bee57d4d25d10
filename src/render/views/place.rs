//! What sort of machine a device sits in, told from its class and its product line.

use serde::Serialize;

use crate::site::kinds::DeviceData;
use crate::texts::text;

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

    /// Where a device is met.
    pub fn of(device: &DeviceData) -> Self {
        if device.unified {
            return Self::Unified;
        }
        device.generation.as_deref().map_or(Self::Other, Self::of_line)
    }

    /// Where cards of a product line are met. Lines are named as TechPowerUp's GPU database names them:
    /// `GeForce 40 Mobile`, `Server Hopper(Hxx)`, `Workstation Ada(x000A)`, `Radeon Pro Navi(Navi III Series)`.
    fn of_line(line: &str) -> Self {
        let line = line.to_lowercase();
        let begins = |names: &[&str]| names.iter().any(|name| line.starts_with(name));
        if line.contains("mobile") {
            Self::Laptop
        } else if begins(&["server", "tesla", "radeon instinct", "instinct"]) {
            Self::DataCenter
        } else if begins(&["workstation", "quadro", "radeon pro", "blackwell pro"])
            || line.contains("(pro series)")
        {
            Self::Workstation
        } else {
            Self::Desktop
        }
    }

    /// In English words.
    pub fn title(self) -> &'static str {
        match self {
            Self::Desktop => text("Desktop"),
            Self::Laptop => text("Laptop"),
            Self::Workstation => text("Workstation"),
            Self::DataCenter => text("Data center"),
            Self::Unified => text("Unified memory"),
            Self::Other => text("Other"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn a_product_line_tells_where_its_cards_are_met() {
        let places = [
            ("GeForce 40", Place::Desktop),
            ("Navi III(RX 7000)", Place::Desktop),
            ("Battlemage(Arc 5)", Place::Desktop),
            ("GeForce 40 Mobile", Place::Laptop),
            ("Alchemist(Arc 3 Mobile)", Place::Laptop),
            ("Workstation Ada(x000A)", Place::Workstation),
            ("Quadro Turing(Tx000)", Place::Workstation),
            ("Blackwell PRO W(x000)", Place::Workstation),
            ("Radeon Pro Navi(Navi IV Series)", Place::Workstation),
            ("Battlemage(Pro Series)", Place::Workstation),
            ("Server Hopper(Hxx)", Place::DataCenter),
            ("Tesla Volta(Vxx)", Place::DataCenter),
            ("Radeon Instinct(MIx)", Place::DataCenter),
            ("Instinct(MIx)", Place::DataCenter),
        ];
        for (line, place) in places {
            assert_eq!(Place::of_line(line), place, "{line}");
        }
    }
}
