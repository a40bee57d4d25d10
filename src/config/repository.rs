//! Addresses of the repository at its host: for edits and for new issues.

use serde::Serialize;

use crate::schema::words;

words! {
    /// Software of the host of a repository.
    pub enum RepositoryHost {
        /// GitHub.
        Github = "github",
        /// GitLab.
        Gitlab = "gitlab",
        /// Forgejo, Codeberg or Gitea.
        Forgejo = "forgejo",
    }
}

/// Repository with the content of a site.
#[derive(Debug, Clone, Serialize)]
pub struct Repository {
    /// Address, without a slash at the end.
    pub url: String,
    /// Branch for edits.
    pub branch: String,
    /// Software of the host.
    pub host: RepositoryHost,
}

impl Repository {
    /// Creates a repository. If no host is given, its address tells: `gitlab`, `codeberg`, `forgejo` or `gitea` in the name of
    /// the host, otherwise GitHub.
    pub(super) fn new(url: &str, branch: String, host: Option<RepositoryHost>) -> Self {
        let name = url.split('/').nth(2).unwrap_or_default().to_lowercase();
        let host = host.unwrap_or_else(|| {
            if name.contains("gitlab") {
                RepositoryHost::Gitlab
            } else if ["codeberg", "forgejo", "gitea"].iter().any(|known| name.contains(known)) {
                RepositoryHost::Forgejo
            } else {
                RepositoryHost::Github
            }
        });
        Self { url: url.trim_end_matches('/').to_string(), branch, host }
    }

    /// Returns the address of the editor for a file.
    pub fn edit_url(&self, path: &str) -> String {
        let editor = match self.host {
            RepositoryHost::Github => "edit",
            RepositoryHost::Gitlab => "-/edit",
            RepositoryHost::Forgejo => "_edit",
        };
        format!("{}/{editor}/{}/{path}", self.url, self.branch)
    }

    /// Returns the form for a new issue with `{title}` and `{body}` in place of their values.
    pub fn issue_url(&self) -> String {
        match self.host {
            RepositoryHost::Gitlab => {
                format!(
                    "{}/-/issues/new?issue%5Btitle%5D={{title}}&issue%5Bdescription%5D={{body}}",
                    self.url
                )
            }
            RepositoryHost::Github | RepositoryHost::Forgejo => {
                format!("{}/issues/new?title={{title}}&body={{body}}", self.url)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_follows_from_the_address_or_the_setting() {
        let edit = |url, host| Repository::new(url, "main".into(), host).edit_url("content/a.md");
        assert_eq!(edit("https://github.com/o/r", None), "https://github.com/o/r/edit/main/content/a.md");
        assert_eq!(
            edit("https://gitlab.example/o/r/", None),
            "https://gitlab.example/o/r/-/edit/main/content/a.md"
        );
        assert_eq!(
            edit("https://codeberg.org/o/r", None),
            "https://codeberg.org/o/r/_edit/main/content/a.md"
        );
        let own = Some(RepositoryHost::Gitlab);
        assert_eq!(edit("https://git.example/r", own), "https://git.example/r/-/edit/main/content/a.md");
    }
}
