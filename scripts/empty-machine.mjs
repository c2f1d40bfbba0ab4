/**
 * A machine with nothing but Node and npm, made of a folder: Node with its libraries, npm, and the shell that npm starts
 * programs with. The packed package is tried there as a stranger would, by an ordinary user, with one line.
 * Mounts live in a namespace of each command, so that nothing is left behind.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { bold, duration, green, Problem, ROOT, readJson, runNode, say } from './process.mjs';
import { checkNode, ensureInstalled } from './setup.mjs';

/** An ordinary user, whose numbers nobody has here. */
const USER = { name: 'visitor', id: 47_911 };
const HOME = `/home/${USER.name}`;
/** npm starts programs with a shell, and finds Node with `env`. */
const PROGRAMS = ['/bin/sh', '/usr/bin/env'];
/** How names become addresses, and how a registry shows who it is. */
const SETTINGS = ['/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf'];
/** What a user has to tell npm where the network is not plain. */
const { NODE_EXTRA_CA_CERTS: CERTIFICATES, HTTP_PROXY, HTTPS_PROXY, NO_PROXY } = process.env;
/** Parts of the C library that Node is not linked to, and that are beside it on every machine. */
const LIBC = /^lib(rt|resolv|util|nss_dns|nss_files)\.so\.\d$/;
const DEVICES = ['null', 'zero', 'random', 'urandom', 'tty'];
/** All that npm installs with the package; test/pack.test.ts has the same limit. */
const INSTALLED_MAX_MB = 40;
/** A first start downloads, and the machine may be busy. */
const START_MAX_MS = 300_000;

/** Why it cannot be made here; undefined when it can. */
export function whyNoEmptyMachine() {
  if (process.platform !== 'linux') return 'folders as machines are made on Linux only';
  if (process.getuid?.() !== 0) return 'only root may make a folder a machine';
  const { status, error } = spawnSync('unshare', ['--mount', 'chroot', '/', 'true'], { stdio: 'ignore' });
  return status === 0 ? undefined : `this system does not permit it (unshare, chroot: ${error?.message ?? status})`;
}

/** Makes the machine, tries the package in it, and removes it. */
export async function tryOnEmptyMachine() {
  checkNode();
  await ensureInstalled();
  const { version } = readJson(path.join(ROOT, 'package.json'));
  const tarball = path.join(ROOT, 'dist', `atrium-${version}.tgz`);
  const root = mkdtempSync(path.join(tmpdir(), 'atrium-machine-'));
  const machine = new Machine(root, path.basename(tarball));
  try {
    await step('the package is packed', async () => {
      rmSync(tarball, { force: true });
      const { code, output } = await runNode([path.join(ROOT, 'scripts', 'pack.mjs')]);
      if (code !== 0) throw new Problem(output);
      return `${megabytes(lstatSync(tarball).size)} to download`;
    });
    await step('an empty machine is made', () => {
      machine.furnish();
      copyFileSync(tarball, path.join(root, HOME, path.basename(tarball)));
      return `${megabytes(sizeOf(root))}: Node ${process.versions.node}, npm, a shell`;
    });
    await step('one line installs and serves, as an ordinary user', () => machine.serve());
    await step('the page is there', () => pageOf(machine.port));
    await step('a command answers', async () => {
      const said = await machine.run(['run', '--no-start', 'what can you do?']);
      expect(said.includes('what is in this folder'), `it said: ${said}`);
    });
    await step('doctor finds nothing that prevents work', async () => void (await machine.run(['doctor'])));
    await step('it stops in good order', () => machine.stop());
    await step('the same line serves again, with everything installed', async () => {
      await machine.serve();
      const sessions = await machine.run(['sessions', 'list', '--json']);
      expect(sessions.includes('ahp-session:'), `its sessions: ${sessions}`);
      await machine.stop();
    });
    await step('what was installed is small', () => {
      const { megabytes: installed, packages } = machine.installed();
      expect(installed < INSTALLED_MAX_MB, `${installed.toFixed(1)} MB were installed`);
      return `${installed.toFixed(1)} MB in ${packages} packages`;
    });
  } finally {
    await machine.end();
    rmSync(root, { recursive: true, force: true });
  }
}

class Machine {
  port = 0;
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #serving;
  #registry = wayToRegistry();

  /** @param {string} root @param {string} tarball its name in the home of the user */
  constructor(root, tarball) {
    this.root = root;
    this.tarball = tarball;
  }

  furnish() {
    const { root } = this;
    for (const folder of ['/tmp', '/proc', '/dev', '/etc', '/usr/bin', '/usr/lib/node_modules', HOME])
      mkdirSync(path.join(root, folder), { recursive: true });
    chmodSync(path.join(root, 'tmp'), 0o1777);
    chmodSync(root, 0o755);
    chownSync(path.join(root, HOME), USER.id, USER.id);
    this.#program(realpathSync(process.execPath), '/usr/bin/node');
    for (const program of PROGRAMS) this.#program(realpathSync(program), program);
    cpSync(npmFolder(), path.join(root, '/usr/lib/node_modules/npm'), { recursive: true });
    for (const name of ['npm', 'npx'])
      symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, path.join(root, 'usr/bin', name));
    for (const file of [...SETTINGS, ...(CERTIFICATES ? [CERTIFICATES] : [])])
      if (existsSync(file)) this.#copy(realpathSync(file), file);
    writeFileSync(path.join(root, 'etc/passwd'), `${USER.name}:x:${USER.id}:${USER.id}::${HOME}:/bin/sh\n`);
    writeFileSync(path.join(root, 'etc/group'), `${USER.name}:x:${USER.id}:\n`);
    for (const device of DEVICES) writeFileSync(path.join(root, 'dev', device), '');
  }

  /** A program, and the libraries that it is linked to. @param {string} file @param {string} as */
  #program(file, as) {
    this.#copy(file, as);
    const { stdout } = spawnSync('ldd', [file], { encoding: 'utf8' });
    for (const [library] of stdout.matchAll(/\/\S+\.so\S*/g)) {
      this.#copy(realpathSync(library), library);
      if (path.basename(library) === 'libc.so.6') this.#restOfLibc(path.dirname(library));
    }
  }

  /** @param {string} folder */
  #restOfLibc(folder) {
    for (const name of readdirSync(folder).filter((each) => LIBC.test(each)))
      this.#copy(realpathSync(path.join(folder, name)), path.join(folder, name));
  }

  /** @param {string} file @param {string} as */
  #copy(file, as) {
    const copy = path.join(this.root, as);
    mkdirSync(path.dirname(copy), { recursive: true });
    if (!existsSync(copy)) copyFileSync(file, copy);
  }

  /** The one line of the README, to the moment when it can be used. */
  async serve() {
    const started = performance.now();
    const child = this.#start(['serve', '--quiet', '--port', '0', '--gateway-port', '0']);
    this.#serving = child;
    const ended = once(child, 'exit').then(([code]) => `it ended with ${code}`);
    const late = new Promise((resolve) => setTimeout(resolve, START_MAX_MS, 'it did not serve in time').unref());
    const ready = new Promise((resolve) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        const [, port] = /^READY:(\d+)$/.exec(line) ?? [];
        if (port !== undefined) resolve(Number(port));
      });
    });
    const outcome = await Promise.race([ready, ended, late]);
    if (typeof outcome !== 'number') throw new Problem(`${outcome}`);
    this.port = outcome;
    return `served after ${duration(performance.now() - started)}`;
  }

  async stop() {
    const child = this.#serving;
    if (!child) return;
    const ended = once(child, 'exit');
    await this.run(['service', 'stop']);
    const [code] = await ended;
    this.#serving = undefined;
    expect(code === 0, `it ended with ${code}`);
  }

  /** Runs a command of the package to its end. @param {string[]} args */
  async run(args) {
    const child = this.#start(args);
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
    const [code] = await once(child, 'close');
    expect(code === 0, `\`atrium ${args.join(' ')}\` ended with ${code}: ${said}`);
    return said;
  }

  /** `npx ./atrium-<version>.tgz …` in the home of the user. @param {string[]} args */
  #start(args) {
    const mounts = ['mount -t proc proc "$ROOT/proc"'];
    for (const device of DEVICES) mounts.push(`mount --bind /dev/${device} "$ROOT/dev/${device}"`);
    const inside = `chroot --userspec=${USER.id}:${USER.id} --groups= "$ROOT" /bin/sh -c 'cd "$HOME" && exec "$@"' sh "$@"`;
    const line = ['npx', '--yes', `./${this.tarball}`, ...args];
    return spawn('unshare', ['--mount', '/bin/sh', '-ec', `${mounts.join('; ')}; exec ${inside}`, 'sh', ...line], {
      env: { ROOT: this.root, PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME, ...this.#registry },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
  }

  /** What npx installed for the user. */
  installed() {
    const cache = path.join(this.root, HOME, '.npm', '_npx');
    const [name = ''] = readdirSync(cache);
    const folder = path.join(cache, name, 'node_modules');
    const { packages } = readJson(path.join(folder, '.package-lock.json'));
    return { megabytes: sizeOf(folder) / 1e6, packages: Object.keys(packages).length };
  }

  /** Ends what a failed step left running: the process that we started, with those that it started. */
  async end() {
    const child = this.#serving;
    if (child?.pid === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    process.kill(-child.pid, 'SIGKILL');
    await ended;
  }
}

/** Where npm is that runs here: beside Node, or what started this script. */
function npmFolder() {
  const { npm_execpath: running = '' } = process.env;
  const beside = path.join(path.dirname(realpathSync(process.execPath)), '..', 'lib', 'node_modules', 'npm');
  const folder = existsSync(beside) ? beside : path.dirname(path.dirname(running));
  if (!existsSync(path.join(folder, 'bin', 'npx-cli.js'))) throw new Problem(`npm is not in ${folder}`);
  return folder;
}

/** The way to the registry that npm is configured with here; the user of the machine has no settings. */
function wayToRegistry() {
  const { stdout } = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8', cwd: ROOT });
  const proxies = { HTTP_PROXY, HTTPS_PROXY, NO_PROXY, NODE_EXTRA_CA_CERTS: CERTIFICATES };
  return { npm_config_registry: stdout.trim(), npm_config_update_notifier: 'false', ...proxies };
}

/** @param {number} port */
async function pageOf(port) {
  const address = `http://127.0.0.1:${port}/`;
  const page = await (await fetch(address)).text();
  expect(page.includes('<title>Atrium'), `it answered ${page.slice(0, 200)}`);
  const [script = ''] = /assets\/index-[\w-]+\.js/.exec(page) ?? [];
  expect((await fetch(address + script)).status === 200, `${script} is missing`);
}

/** @param {string} what @param {() => unknown} work says something about it, if it likes */
async function step(what, work) {
  const started = performance.now();
  say(bold(`${what} ...`));
  const note = await work();
  const time = duration(performance.now() - started);
  console.log(`${green('ok')} ${what} ${time}${typeof note === 'string' ? `, ${note}` : ''}`);
}

/** @param {boolean} holds @param {string} otherwise */
function expect(holds, otherwise) {
  if (!holds) throw new Problem(otherwise);
}

/** @param {string} file @returns {number} */
function sizeOf(file) {
  const stats = lstatSync(file);
  if (!stats.isDirectory()) return stats.size;
  return readdirSync(file).reduce((sum, name) => sum + sizeOf(path.join(file, name)), 0);
}

/** @param {number} bytes */
function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
