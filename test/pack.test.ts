/** The package that `npm run pack` makes: what is in it, and that it runs with nothing else than what it asks npm for. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseAst } from 'vite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { OPTIONAL } from '../scripts/bundle.mjs';
import { makePackage } from '../scripts/pack.mjs';
import { billOfMaterials, bundledPackages, lockedPackages, notices } from '../scripts/third-party.mjs';

const execute = promisify(execFile);
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const isBuilt = existsSync(path.join(ROOT, 'packages', 'web', 'dist', 'index.html'));
/** A machine may be busy with other things. */
const PACK_MAX_MS = 300_000;
/** Without what optional packages bring. The limit is of the whole folder that npm installs. */
const INSTALLED_MAX_MB = 40;

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly unknown[];
  readonly properties?: readonly unknown[];
}

describe.skipIf(!isBuilt)('the package (skipped: the page has not been built)', { timeout: PACK_MAX_MS }, () => {
  let home: string;
  /** As npm unpacks it. */
  let folder: string;
  let modules: Awaited<ReturnType<typeof makePackage>>;

  beforeAll(async () => {
    home = realpathSync(mkdtempSync(path.join(tmpdir(), 'atrium-pack-')));
    const made = path.join(home, 'made');
    modules = await makePackage(made);
    await execute('npm', ['pack', made, '--pack-destination', home, '--silent'], {
      shell: process.platform === 'win32',
    });
    mkdirSync(path.join(home, 'node_modules'));
    await execute('tar', ['-xzf', `atrium-${versionOf(ROOT)}.tgz`, '-C', 'node_modules'], { cwd: home });
    folder = path.join(home, 'node_modules', 'package');
  }, PACK_MAX_MS);

  afterAll(() => rmSync(home, { recursive: true, force: true }));

  function files(): string[] {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return entries
      .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
      .sort();
  }

  function textOf(file: string): string {
    return readFileSync(path.join(folder, file), 'latin1');
  }

  function components(): Component[] {
    return JSON.parse(textOf('sbom.json')).components;
  }

  it('has the command, the page, its licence and a README, and nothing else', () => {
    const top = new Set(files().map((file) => file.split('/')[0]));
    expect([...top].sort()).toEqual(
      ['LICENSE', 'README.md', 'THIRD-PARTY-NOTICES.txt', 'lib', 'package.json', 'page', 'sbom.json'].sort(),
    );
    expect(files()).toContain('lib/atrium.cjs');
    expect(files()).toContain('page/index.html');
    expect(files().filter((file) => file.startsWith('lib/') && !file.endsWith('.cjs'))).toEqual([]);
    expect(files().filter((file) => /\.(map|ts|tsx|tsbuildinfo)$|test/.test(file))).toEqual([]);
  });

  it('names no path of the machine that built it, and no package of ours', () => {
    const places = [ROOT.replace(/[\\/]$/, ''), ...(homedir().length > '/root'.length ? [homedir()] : [])];
    for (const file of files()) {
      const text = textOf(file);
      for (const place of places) expect(text.includes(place), `${place} in ${file}`).toBe(false);
      expect(text.includes('require("@atrium/'), file).toBe(false);
      expect(text.includes('sourceMappingURL='), file).toBe(false);
    }
  });

  it('asks npm for native packages only, in exactly the versions that were tested', () => {
    const {
      name,
      bin,
      dependencies,
      optionalDependencies,
      scripts,
      private: isPrivate,
      ...manifest
    } = JSON.parse(textOf('package.json'));
    expect({ name, bin, optionalDependencies, scripts, isPrivate }).toEqual({
      name: 'atrium',
      bin: { atrium: 'lib/atrium.cjs' },
    });
    // npm would fetch the descriptions of all that optional peers ask for, at every `npx`.
    expect(manifest.peerDependencies).toBeUndefined();
    expect(manifest.engines).toEqual(JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')).engines);
    expect(Object.keys(dependencies).sort()).toEqual(['@lydell/node-pty', 'libsql']);
    for (const each of Object.keys(dependencies))
      expect(dependencies[each]).toBe(versionOf(path.join(ROOT, 'node_modules', each)));
    const required = files()
      .filter((file) => file.startsWith('lib/'))
      .flatMap((file) => requiredIn(textOf(file)));
    expect([...new Set(required)].filter((id) => !(id in dependencies || OPTIONAL.includes(id)))).toEqual([]);
  });

  it('has the licence of every package inside, and lists them and what npm adds', () => {
    const text = textOf('THIRD-PARTY-NOTICES.txt');
    const inPage = bundledPackages(modules.ofPage);
    expect(inPage.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['react', 'react-dom', 'highlight.js', '@xterm/xterm']),
    );
    const bundled = components().filter(({ properties }) => properties);
    const names = bundled.map(({ name }) => name);
    const inCommand = bundledPackages(modules.ofCommand);
    expect(names).toEqual(expect.arrayContaining(inCommand.map(({ name }) => name)));
    expect(names).toEqual(
      expect.arrayContaining(['@ai-sdk/openai', 'commander', 'diff', 'jsonc-parser', 'ws', 'yaml', 'zod']),
    );
    expect(names).toEqual(expect.arrayContaining(inPage.map(({ name }) => name)));
    for (const { name, version, licenses } of bundled) {
      expect(text).toContain(`\n${name} ${version} (`);
      expect(licenses).toHaveLength(1);
    }
    expect(text).toContain('END OF TERMS AND CONDITIONS');
    const installed = components().filter(({ properties }) => !properties);
    expect(installed.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['libsql', 'detect-libc', '@libsql/linux-x64-gnu']),
    );
    for (const { purl } of components()) expect(purl).toMatch(/^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+/);
  });

  it('is small: all that npm installs with it', () => {
    const parts = [folder, ...installedHere().map((name) => path.join(ROOT, 'node_modules', name))];
    expect(parts.length).toBeGreaterThan(3);
    expect(parts.reduce((sum, part) => sum + sizeOf(part), 0) / 1e6).toBeLessThan(INSTALLED_MAX_MB);
  });

  /** What npm installs on this machine; packages for other platforms are not here. */
  function installedHere(): string[] {
    const names = components()
      .filter(({ properties }) => !properties)
      .map(({ name }) => name);
    return names.filter((name) => existsSync(path.join(ROOT, 'node_modules', name)));
  }

  it('runs from a folder with nothing else: serves the page and answers a command', async () => {
    for (const name of installedHere()) {
      const link = path.join(home, 'node_modules', name);
      mkdirSync(path.dirname(link), { recursive: true });
      if (!existsSync(link)) symlinkSync(path.join(ROOT, 'node_modules', name), link, 'junction');
    }
    const { PATH = '', SystemRoot = '' } = process.env;
    const env = {
      PATH,
      SystemRoot,
      HOME: home,
      USERPROFILE: home,
      ATRIUM_DATA_DIR: path.join(home, 'data'),
      ATRIUM_DISCOVERY: '0',
    };
    const command = path.join(folder, 'lib', 'atrium.cjs');
    expect((await execute(process.execPath, [command, '--version'], { env })).stdout).toBe(`${versionOf(ROOT)}\n`);

    const args = [command, 'serve', '--quiet', '--port', '0', '--gateway-port', '0'];
    const serve = spawn(process.execPath, args, { env, cwd: home, stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void serve.kill('SIGKILL'));
    const [line] = await once(createInterface(serve.stdout), 'line');
    const address = `http://127.0.0.1:${/^READY:(\d+)$/.exec(String(line))?.[1]}/`;
    const page = await (await fetch(address)).text();
    expect(page).toContain('<title>Atrium');
    const [script = ''] = /assets\/index-[\w-]+\.js/.exec(page) ?? [];
    expect((await fetch(address + script)).status).toBe(200);

    const said = await execute(process.execPath, [command, 'run', '--no-start', 'what can you do?'], {
      env,
      cwd: home,
    });
    expect(said.stdout).toContain('what is in this folder');
    const ended = once(serve, 'exit');
    serve.kill('SIGTERM');
    expect((await ended)[0]).toBe(0);
  });
});

describe('the packages for programs', () => {
  const manifests = readdirSync(path.join(ROOT, 'packages')).map((name) =>
    JSON.parse(readFileSync(path.join(ROOT, 'packages', name, 'package.json'), 'utf8')),
  );

  it('have one version, and ask for each other in exactly that', () => {
    for (const { name, version, dependencies = {} } of manifests) {
      expect(version, name).toBe(versionOf(ROOT));
      const ours = Object.entries(dependencies).filter(([other]) => other.startsWith('@atrium/'));
      expect(ours.filter(([, wanted]) => wanted !== version)).toEqual([]);
    }
  });

  it('have nothing of the page to install: it is built', () => {
    expect(manifests.find(({ name }) => name === '@atrium/web').dependencies).toBeUndefined();
  });
});

describe('third parties', () => {
  it('that do not say their licence end the packing', () => {
    const manifest = { name: 'mine', version: '1.0.0', license: 'MIT' };
    expect(() => bundledPackages([path.join(ROOT, 'node_modules', 'missing', 'index.js')])).toThrow('missing');
    expect(notices([])).not.toContain('Apache');
    expect(billOfMaterials({ manifest, bundled: [], installed: [] }).components).toEqual([]);
  });

  it('give the same bill for the same parts', () => {
    const manifest = { name: 'mine', version: '1.0.0', license: 'MIT' };
    const bill = () => billOfMaterials({ manifest, bundled: [], installed: lockedPackages(['libsql']) });
    expect(bill()).toEqual(bill());
    expect(bill().serialNumber).toMatch(/^urn:uuid:[\da-f]{8}-[\da-f]{4}-5[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  });
});

function versionOf(packageFolder: string): string {
  return JSON.parse(readFileSync(path.join(packageFolder, 'package.json'), 'utf8')).version;
}

/** Packages that the code requires or imports by name; `@a/b/c` counts as `@a/b`. */
function requiredIn(code: string): string[] {
  const ids = namesCalledFor(parseAst(code)).filter((id) => !(id.startsWith('.') || isBuiltin(id)));
  return ids.map((id) =>
    id
      .split('/')
      .slice(0, id.startsWith('@') ? 2 : 1)
      .join('/'),
  );
}

/** Read as code: in the texts of some packages there is code that they would write. */
function namesCalledFor(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const {
    type,
    callee,
    arguments: [first] = [],
  } = node as {
    type?: string;
    callee?: { name?: string };
    arguments?: readonly { value?: unknown }[];
  };
  const isCall = type === 'CallExpression' && ['require', 'importPackage'].includes(callee?.name ?? '');
  const own = isCall && typeof first?.value === 'string' ? [first.value] : [];
  return [...own, ...Object.values(node).flatMap(namesCalledFor)];
}

function sizeOf(file: string): number {
  const stats = lstatSync(file);
  if (!stats.isDirectory()) return stats.size;
  return readdirSync(file).reduce((sum, name) => sum + sizeOf(path.join(file, name)), 0);
}
