/** Whose compiled code the command runs. Each attack leaves a code in the cache that would say "attacked". */
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkAllowedPath } from '../../../core/src/util/paths.js';
import { CODE_CACHE_MAX_BYTES, CodeCache, codeCacheFolder } from '../../src/bundled/code-cache.js';

const isUnix = process.platform !== 'win32';
const isRoot = process.getuid?.() === 0;
const SOMEBODY_ELSE = 65_533;
/** Of the same length: V8 tells sources apart by their length alone. */
const SOURCE = "(function () { const word = () => 'original'; return word(); })";
const EVIL = "(function () { const word = () => 'attacked'; return word(); })";

let home: string;
let folder: string;

beforeEach(() => {
  home = realpathSync(mkdtempSync(path.join(tmpdir(), 'atrium-code-')));
  folder = path.join(home, 'cache', 'code');
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

function compile(cache: CodeCache | undefined, source = SOURCE) {
  const code = { file: path.join(home, 'chunk.cjs'), bytes: Buffer.from(source), source };
  return cache?.compile(code);
}

/** What the program says, and whether its code came from the cache; undefined where there is no cache. */
function start(source = SOURCE): { said: unknown; fromCache: boolean } | undefined {
  const cache = CodeCache.open(folder);
  const script = compile(cache, source);
  if (!script) return undefined;
  const said: unknown = script.runInThisContext()();
  cache?.save();
  return { said, fromCache: script.cachedDataRejected === false };
}

function files(): string[] {
  return readdirSync(folder).filter((name) => !name.startsWith('atrium.'));
}

function onlyFile(): string {
  const [name, ...more] = files();
  if (name === undefined || more.length > 0) throw new Error(`expected one file: ${files()}`);
  return path.join(folder, name);
}

/** A whole file of the cache with the code of the attacker in place of ours. */
function evilFile(): Buffer {
  const own = folder;
  folder = path.join(home, 'evil');
  start(EVIL);
  const evil = readFileSync(onlyFile());
  rmSync(folder, { recursive: true });
  folder = own;
  return evil;
}

describe('the code cache', () => {
  it('gives back at the next start what was compiled at this one [REL-090]', () => {
    expect(start()).toEqual({ said: 'original', fromCache: false });
    expect(start()).toEqual({ said: 'original', fromCache: true });
    expect(files()).toHaveLength(1);
  });

  it('knows a changed source of the same length [REL-090]', () => {
    start();
    expect(start(EVIL)).toEqual({ said: 'attacked', fromCache: false });
    expect(start()).toEqual({ said: 'original', fromCache: true });
  });

  it('ignores and mends a damaged file, wherever the damage is [REL-090]', () => {
    start();
    const file = onlyFile();
    const whole = readFileSync(file);
    for (let at = 0; at < whole.length; at += 7) {
      const damaged = Buffer.from(whole);
      damaged.writeUInt8(damaged.readUInt8(at) ^ 0x55, at);
      writeFileSync(file, damaged);
      expect(compile(CodeCache.open(folder))?.cachedDataRejected).toBeUndefined();
    }
    for (const length of [0, 1, 31, 32, 33, whole.length - 1]) {
      writeFileSync(file, whole.subarray(0, length));
      expect(start()).toEqual({ said: 'original', fromCache: false });
      expect(start()).toEqual({ said: 'original', fromCache: true });
    }
  });

  it('does not take the code of one source for another [REL-090]', () => {
    start();
    writeFileSync(onlyFile(), evilFile());
    expect(start()).toEqual({ said: 'original', fromCache: false });
  });

  it('stays within its size: the oldest files go [REL-090]', () => {
    start();
    const old = onlyFile();
    const big = path.join(folder, 'f'.repeat(64));
    writeFileSync(big, Buffer.alloc(CODE_CACHE_MAX_BYTES - 100));
    utimesSync(old, 1, 1);
    start(EVIL);
    expect(existsSync(old)).toBe(false);
    expect(files()).toHaveLength(1);
  });

  it('removes and changes nothing but its own files, whichever folder it is given [REL-090]', () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const big = path.join(folder, 'photos.tar');
    const lock = path.join(folder, 'atrium.lock');
    writeFileSync(big, Buffer.alloc(CODE_CACHE_MAX_BYTES + 1));
    writeFileSync(lock, 'of somebody');
    mkdirSync(path.join(folder, 'f'.repeat(64)));
    utimesSync(big, 1, 1);
    start();
    expect(start()).toEqual({ said: 'original', fromCache: true });
    expect(statSync(big).size).toBe(CODE_CACHE_MAX_BYTES + 1);
    expect(readFileSync(lock, 'utf8')).toBe('of somebody');
  });

  it.runIf(isUnix && isRoot)('makes no folder where it would not use it: in the home of another user [REL-091]', () => {
    chownSync(home, SOMEBODY_ELSE, SOMEBODY_ELSE);
    expect(start()).toBeUndefined();
    expect(readdirSync(home)).toEqual([]);
  });

  it('is no place for the tools of agents [REL-091]', async () => {
    start();
    await expect(checkAllowedPath(onlyFile(), 'it')).rejects.toThrow('off limits to tools');
  });

  it('is nowhere when it is turned off, cannot be made, or its user has no home', () => {
    const system = { platform: 'linux', env: {}, home } as const;
    expect(codeCacheFolder(system)).toBe(path.posix.join(home, '.cache', 'atrium', 'code'));
    expect(codeCacheFolder({ ...system, env: { ATRIUM_CODE_CACHE: 'off' } })).toBeUndefined();
    expect(codeCacheFolder({ ...system, home: path.join(home, 'missing') })).toBeUndefined();
    expect(codeCacheFolder({ ...system, env: { XDG_CACHE_HOME: 'relative' } })).toContain('.cache');
    writeFileSync(path.join(home, 'file'), '');
    expect(CodeCache.open(path.join(home, 'file', 'code'))).toBeUndefined();
  });
});

describe.skipIf(!isUnix)('the code cache and others (skipped: Windows has neither owners nor modes)', () => {
  it('is closed to others, and so are its files [REL-091]', () => {
    start();
    const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);
    expect(modeOf(folder)).toBe('700');
    expect(modeOf(onlyFile())).toBe('600');
  });

  it.each(['770', '707', '750', '701', '1777'])('is not used in a folder with mode %s [REL-091]', (mode) => {
    start();
    chmodSync(folder, Number.parseInt(mode, 8));
    expect(start()).toBeUndefined();
  });

  it.each(['770', '777', '702'])(
    'is not used where a folder above it with mode %s lets others replace it [REL-091]',
    (mode) => {
      start();
      chmodSync(path.dirname(folder), Number.parseInt(mode, 8));
      expect(start()).toBeUndefined();
      chmodSync(path.dirname(folder), Number.parseInt(`1${mode}`, 8));
      expect(start()).toEqual({ said: 'original', fromCache: true });
    },
  );

  it('is judged by where it really is, not by the link to it [REL-091]', () => {
    start();
    const open = path.join(home, 'open');
    mkdirSync(open);
    renameSync(folder, path.join(open, 'code'));
    chmodSync(open, 0o777);
    symlinkSync(path.join(open, 'code'), folder);
    expect(start()).toBeUndefined();
  });

  it('does not follow a link in place of a file, nor trust a file that others may write [REL-091]', () => {
    start();
    const file = onlyFile();
    const elsewhere = path.join(home, 'elsewhere');
    copyFileSync(file, elsewhere);
    rmSync(file);
    symlinkSync(elsewhere, file);
    expect(start()).toEqual({ said: 'original', fromCache: false });
    chmodSync(onlyFile(), 0o620);
    expect(start()).toEqual({ said: 'original', fromCache: false });
    rmSync(onlyFile());
    mkdirSync(file);
    expect(start()?.said).toBe('original');
  });

  it.skipIf(!isRoot)(
    'does not trust files and folders of somebody else (skipped: only root can make them) [REL-091]',
    () => {
      start();
      chownSync(onlyFile(), SOMEBODY_ELSE, SOMEBODY_ELSE);
      expect(start()).toEqual({ said: 'original', fromCache: false });
      chownSync(folder, SOMEBODY_ELSE, SOMEBODY_ELSE);
      expect(start()).toBeUndefined();
      chownSync(folder, 0, 0);
      expect(start()?.fromCache).toBe(true);
      chownSync(path.dirname(folder), SOMEBODY_ELSE, SOMEBODY_ELSE);
      expect(start()).toBeUndefined();
    },
  );
});
