//! A Postgres server of a test.
use concord_sql::{Engine, Location};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{self, Child, Command, Stdio},
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// An empty database, or a copy of another one.
pub fn create(server: &str, template: &str) -> Location {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::SeqCst);
    let name = format!("test_{}_{number}", process::id());
    let location = |name: &str| -> Location { format!("{server}/{name}").parse().unwrap() };
    let mut first = location("postgres").open().unwrap();
    let sql = format!("CREATE DATABASE {name} TEMPLATE {template}");
    first.script(&sql).unwrap();
    location(&name)
}

/// A server of this test, as an ordinary user: Postgres refuses to run as root.
pub struct Server {
    child: Child,
    folder: TempDir,
}

/// Runs programs as this user, if the test runs as root.
const UNPRIVILEGED: &str = "65534";

/// Ends with the test, also if that is killed.
fn command(folder: &Path, program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "INT"]);
    if is_root() {
        let user = [UNPRIVILEGED; 2];
        command.args(["--reuid", user[0], "--regid", user[1], "--clear-groups"]);
    }
    command
        .arg(program)
        .current_dir(folder)
        .stdin(Stdio::null());
    command
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").unwrap().uid() == 0
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {words}");
    String::from_utf8(output.stdout).unwrap()
}

/// initdb's folder, where an ordinary user can read it.
fn binaries(folder: &Path) -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/toolchain/postgres");
    let found = PathBuf::from(run(&mut Command::new(script)).trim_end());
    let is_readable = command(folder, Path::new("test"))
        .args(["-x", found.join("initdb").to_str().unwrap()])
        .status();
    if is_readable.unwrap().success() {
        return found;
    }
    // The unpacked packages are in the folder above: a clone in root's home.
    let copy = folder.join("postgres");
    run(Command::new("cp")
        .arg("-r")
        .arg(found.parent().unwrap())
        .arg(&copy));
    copy.join("bin")
}

impl Server {
    pub fn start() -> Self {
        Self::start_with(&["-c", "fsync=off"])
    }

    /// One that flushes to the disk, to be measured.
    #[allow(dead_code)] // no test asks for it
    pub fn durable() -> Self {
        Self::start_with(&[])
    }

    fn start_with(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        if is_root() {
            let user = UNPRIVILEGED.parse().unwrap();
            std::os::unix::fs::chown(path, Some(user), Some(user)).unwrap();
        }
        let binaries = binaries(path);
        let data = path.join("data");
        run(command(path, &binaries.join("initdb"))
            .args([
                "--username=concord",
                "--auth=trust",
                "--encoding=UTF8",
                "--no-locale",
            ])
            .args(["--no-sync", "--pgdata"])
            .arg(&data));
        let log = fs::File::create(path.join("log")).unwrap();
        let child = command(path, &binaries.join("postgres"))
            .arg("-D")
            .arg(&data)
            .arg("-k")
            .arg(path)
            .args(["-c", "listen_addresses=", "-c", "jit=off"])
            .args(options)
            .args(["-c", "max_connections=200"])
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        let server = Self {
            child: child.unwrap(),
            folder,
        };
        server.wait();
        server
    }

    /// By its socket: no port is taken.
    pub fn address(&self) -> String {
        let path = self.folder.path().to_str().unwrap();
        format!("postgres://concord@{}", path.replace('/', "%2F"))
    }

    fn wait(&self) {
        let location: Location = format!("{}/postgres", self.address()).parse().unwrap();
        let begun = Instant::now();
        while let Err(error) = location.open() {
            let log = fs::read_to_string(self.folder.path().join("log")).unwrap();
            assert!(begun.elapsed() < Duration::from_secs(120), "{error}: {log}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let id = self.child.id().to_string();
        let _ = Command::new("kill").args(["-QUIT", &id]).status(); // it may have ended
        let _ = self.child.wait();
    }
}
