//! Type of machine that a device is part of, derived from its class and product line.

use serde::Serialize;

use crate::i18n::text;
use crate::site::kinds::DeviceData;

/// Type of machine, in the order of lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(in crate::render) enum MachineType {
    /// A GPU for a PC.
    Desktop,
    /// Part of a laptop.
    Laptop,
    /// A GPU for a workstation.
    Workstation,
    /// A GPU or module for a server.
    DataCenter,
    /// GPU and system share the memory.
    Unified,
    /// Unknown.
    Other,
}

impl MachineType {
    /// All types, in order.
    pub const ALL: [Self; 6] =
        [Self::Desktop, Self::Laptop, Self::Workstation, Self::DataCenter, Self::Unified, Self::Other];

    /// Returns the machine type of a device.
    pub fn of(device: &DeviceData) -> Self {
        if device.unified {
            return Self::Unified;
        }
        device.generation.as_deref().map_or(Self::Other, Self::of_line)
    }

    /// Returns the machine type of a product line, as named in TechPowerUp's GPU database: `GeForce 40 Mobile`,
    /// `Server Hopper(Hxx)`, `Workstation Ada(x000A)`, `Radeon Pro Navi(Navi III Series)`.
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

    /// Returns the English name.
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
    use super::MachineType;

    #[test]
    fn product_lines_imply_the_machine_type() {
        let places = [
            ("GeForce 40", MachineType::Desktop),
            ("Navi III(RX 7000)", MachineType::Desktop),
            ("Battlemage(Arc 5)", MachineType::Desktop),
            ("GeForce 40 Mobile", MachineType::Laptop),
            ("Alchemist(Arc 3 Mobile)", MachineType::Laptop),
            ("Workstation Ada(x000A)", MachineType::Workstation),
            ("Quadro Turing(Tx000)", MachineType::Workstation),
            ("Blackwell PRO W(x000)", MachineType::Workstation),
            ("Radeon Pro Navi(Navi IV Series)", MachineType::Workstation),
            ("Battlemage(Pro Series)", MachineType::Workstation),
            ("Server Hopper(Hxx)", MachineType::DataCenter),
            ("Tesla Volta(Vxx)", MachineType::DataCenter),
            ("Radeon Instinct(MIx)", MachineType::DataCenter),
            ("Instinct(MIx)", MachineType::DataCenter),
        ];
        for (line, place) in places {
            assert_eq!(MachineType::of_line(line), place, "{line}");
        }
    }
}
