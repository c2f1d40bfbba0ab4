/**
 * Keeps the compiled code of the bundle between starts. V8 runs such code unchecked: a damaged file crashes the
 * process, and a
 * user who can write one can run any code in it. So the cache counts only if nobody but this user (and root) could have
 * written it, and a file only if it is whole. Node compiles everything else as if there were no cache.
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';

/** All files together. The oldest go first; a build of Atrium has 3 MB. */
export const CODE_CACHE_MAX_BYTES = 32 * 2 ** 20;
/** The tools of agents stay out of a folder with these files, as they stay out of the data folder. */
const MARKS = ['atrium.lock', 'atrium.code-cache'];
const DIGEST_BYTES = 32;
/** Names of our own files: a folder that the user named may hold other files, too. */
const OWN_NAME = /^(?:[0-9a-f]{64}|fresh-[0-9a-f-]{36})$/;

interface SystemInfo {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

/** `ATRIUM_CODE_CACHE` names another folder, or is `off`. A user without a home has no cache either. */
export function codeCacheFolder({ platform, env, home }: SystemInfo): string | undefined {
  const named = env.ATRIUM_CODE_CACHE;
  if (named === 'off') return undefined;
  if (named) return path.resolve(named);
  if (!existsSync(home)) return undefined;
  if (platform === 'win32') return env.LOCALAPPDATA && path.win32.join(env.LOCALAPPDATA, 'atrium-cache', 'code');
  if (platform === 'darwin') return path.posix.join(home, 'Library', 'Caches', 'atrium', 'code');
  const shared = env.XDG_CACHE_HOME;
  const base = shared && path.posix.isAbsolute(shared) ? shared : path.posix.join(home, '.cache');
  return path.posix.join(base, 'atrium', 'code');
}

interface Code {
  readonly file: string;
  /** What is in the file, as bytes and as text. */
  readonly bytes: Buffer;
  readonly source: string;
}

interface Unsaved {
  readonly name: string;
  readonly script: Script;
}

export class CodeCache {
  readonly #folder: string;
  /** Part of the file names, so that another Node, processor or set of V8 flags uses other files. */
  readonly #runtime = `${process.version} ${process.arch} ${cachedDataVersionTag()}\n`;
  #unsaved: Unsaved[] = [];

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Makes the folder if it does not exist. Undefined if that fails, or if others could write into the folder. */
  static open(folder: string): CodeCache | undefined {
    try {
      // A user could not use a folder that root has made in the user's home.
      if (!isOutOfReach(nearestTo(folder))) return undefined;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const real = realpathSync(folder);
      return isPrivate(real) ? new CodeCache(real) : undefined;
    } catch {
      return undefined;
    }
  }

  compile({ file, bytes, source }: Code): Script {
    const name = createHash('sha256').update(this.#runtime).update(bytes).digest('hex');
    const cachedData = this.#read(name);
    const script = new Script(source, { filename: file, ...(cachedData && { cachedData }) });
    if (cachedData === undefined || script.cachedDataRejected) this.#unsaved.push({ name, script });
    return script;
  }

  /** Stores the code compiled since the last time, with all functions that have run so far. Ignores a full disk. */
  save(): void {
    const unsaved = this.#unsaved;
    this.#unsaved = [];
    if (unsaved.length === 0) return;
    try {
      for (const mark of MARKS) makeEmpty(path.join(this.#folder, mark));
      for (const { name, script } of unsaved) this.#write(name, script.createCachedData());
      this.#removeOldest();
    } catch {}
  }

  #read(name: string): Buffer | undefined {
    try {
      const whole = readOwnFile(path.join(this.#folder, name));
      const code = whole.subarray(DIGEST_BYTES);
      return digest(name, code).equals(whole.subarray(0, DIGEST_BYTES)) ? code : undefined;
    } catch {
      return undefined;
    }
  }

  #write(name: string, code: Buffer): void {
    const fresh = path.join(this.#folder, `fresh-${randomUUID()}`);
    try {
      writeFileSync(fresh, Buffer.concat([digest(name, code), code]), { mode: 0o600, flag: 'wx' });
      renameSync(fresh, path.join(this.#folder, name));
    } catch (error) {
      rmSync(fresh, { force: true });
      throw error;
    }
  }

  #removeOldest(): void {
    const files = readdirSync(this.#folder)
      .filter((name) => OWN_NAME.test(name))
      .map((name) => path.join(this.#folder, name))
      .map((file) => ({ file, ...timeAndSize(file) }))
      .sort((a, b) => b.mtimeMs - a.mtimeMs);
    let bytes = 0;
    for (const { file, size } of files) {
      bytes += size;
      if (bytes > CODE_CACHE_MAX_BYTES) rmSync(file, { force: true });
    }
  }
}

/** Does not change an existing file. */
function makeEmpty(file: string): void {
  if (!existsSync(file)) writeFileSync(file, '', { mode: 0o600 });
}

/** Another process may have removed it. */
function timeAndSize(file: string): { mtimeMs: number; size: number } {
  return statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: 0, size: 0 };
}

function digest(name: string, code: Buffer): Buffer {
  return createHash('sha256').update(name).update(code).digest();
}

/** Refuses a link: this program never puts a link in place of the file. */
function readOwnFile(file: string): Buffer {
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || !isOwn(stats) || isWritableByOthers(stats)) throw new Error(`${file} may be from others`);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** True if the folder is closed to others, and no folder above it lets others replace it. */
function isPrivate(real: string): boolean {
  const stats = lstatSync(real);
  if (!isOwn(stats) || (process.geteuid && (stats.mode & 0o077) !== 0)) return false;
  return isOutOfReach(path.dirname(real));
}

/** True if others cannot replace the contents of this folder: they can write neither into it nor into those above. */
function isOutOfReach(real: string): boolean {
  const { uid, mode } = lstatSync(real);
  const isSticky = (mode & 0o1000) !== 0;
  if (!(isOwn({ uid }) || uid === 0) || (isWritableByOthers({ mode }) && !isSticky)) return false;
  const above = path.dirname(real);
  return above === real || isOutOfReach(above);
}

/** The nearest existing folder: this one, or one above it. */
function nearestTo(folder: string): string {
  return existsSync(folder) ? realpathSync(folder) : nearestTo(path.dirname(folder));
}

/** Windows has neither owners nor modes here; there the folder is in the user's profile, which is closed to others. */
function isOwn({ uid }: Pick<Stats, 'uid'>): boolean {
  return process.geteuid === undefined || uid === process.geteuid();
}

function isWritableByOthers({ mode }: Pick<Stats, 'mode'>): boolean {
  return process.geteuid !== undefined && (mode & 0o022) !== 0;
}
