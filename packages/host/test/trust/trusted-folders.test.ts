import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TrustedFolders } from '../../src/plugins/trust/folder-trust.js';
import { tempFolder } from '../support/temp-folder.js';

describe('trusted folders', () => {
  it('are remembered by their real path, for this person only', async () => {
    const base = await tempFolder();
    const file = path.join(base, 'trusted.json');
    await mkdir(path.join(base, 'real'));
    await symlink(path.join(base, 'real'), path.join(base, 'link'));
    const folders = new TrustedFolders(file);
    expect(await folders.isTrusted(path.join(base, 'real'))).toBe(false);
    await folders.trust(path.join(base, 'link'), ['p1']);
    expect(await folders.isTrusted(path.join(base, 'real'))).toBe(true);
    expect(await new TrustedFolders(file).isTrusted(path.join(base, 'link'))).toBe(true);
    expect(await folders.isTrusted(base)).toBe(false);
    if (process.platform !== 'win32') expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await folders.distrust(path.join(base, 'link'))).toBe(true);
    expect(await folders.distrust(path.join(base, 'link'))).toBe(false);
    expect(await folders.isTrusted(path.join(base, 'real'))).toBe(false);
  });

  it('are all remembered when many are trusted at once', async () => {
    const base = await tempFolder();
    const folders = new TrustedFolders(path.join(base, 'trusted.json'));
    const names = Array.from({ length: 10 }, (_, index) => path.join(base, `f${index}`));
    await Promise.all(names.map((name) => mkdir(name)));
    await Promise.all(names.map((name) => folders.trust(name, [])));
    expect(await folders.list()).toHaveLength(10);
  });

  it('[REL-055] may start what somebody was shown, by whatever way they are reached, and nothing else', async () => {
    const base = await tempFolder();
    const file = path.join(base, 'trusted.json');
    await mkdir(path.join(base, 'real'));
    await mkdir(path.join(base, 'other'));
    await symlink(path.join(base, 'real'), path.join(base, 'link'));
    const folders = new TrustedFolders(file);
    await folders.trust(path.join(base, 'link'), ['p1']);
    await folders.trust(path.join(base, 'real'), ['p2']);
    const again = new TrustedFolders(file);
    for (const program of ['p1', 'p2']) expect(await again.allows(path.join(base, 'real'), program)).toBe(true);
    expect(await again.allows(path.join(base, 'link'), 'p3')).toBe(false);
    expect(await again.allows(path.join(base, 'other'), 'p1')).toBe(false);
    await again.distrust(path.join(base, 'link'));
    await again.trust(path.join(base, 'real'), []);
    expect(await again.allows(path.join(base, 'real'), 'p1')).toBe(false);
  });

  it('[REL-055] of earlier versions are trusted, but asked about once more before they start anything', async () => {
    const base = await tempFolder();
    const file = path.join(base, 'trusted.json');
    await writeFile(file, JSON.stringify({ folders: [base] }));
    const folders = new TrustedFolders(file);
    expect(await folders.isTrusted(base)).toBe(true);
    expect(await folders.allows(base, 'p1')).toBe(false);
    await folders.trust(base, ['p1']);
    expect(await folders.allows(base, 'p1')).toBe(true);
    expect(await folders.list()).toEqual([base]);
  });

  it('are none when the file is damaged', async () => {
    const base = await tempFolder();
    const file = path.join(base, 'trusted.json');
    await writeFile(file, '{"folders": [');
    const folders = new TrustedFolders(file);
    expect(await folders.isTrusted(base)).toBe(false);
    await folders.trust(base, []);
    expect(JSON.parse(await readFile(file, 'utf8')).folders).toHaveLength(1);
  });

  it('are none when the file cannot be read', async () => {
    const base = await tempFolder();
    const file = path.join(base, 'trusted.json');
    await mkdir(file);
    expect(await new TrustedFolders(file).isTrusted(base)).toBe(false);
    expect(await new TrustedFolders(file, [{ folder: base, programs: [] }]).isTrusted(base)).toBe(true);
  });

  it('include those that were named when the host was started', async () => {
    const base = await tempFolder();
    const named = [base, path.join(base, 'missing')].map((folder) => ({ folder, programs: ['p1'] }));
    const folders = new TrustedFolders(path.join(base, 'trusted.json'), named);
    expect(await folders.isTrusted(base)).toBe(true);
    expect(await folders.allows(base, 'p1')).toBe(true);
    expect(await folders.allows(base, 'p2')).toBe(false);
    expect(await folders.isTrusted(path.join(base, 'missing'))).toBe(false);
  });

  it('can be watched by many, each until it has heard enough', async () => {
    const base = await tempFolder();
    const folders = new TrustedFolders(path.join(base, 'trusted.json'));
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on('warning', warned);
    onTestFinished(() => void process.off('warning', warned));
    const heard = Array.from({ length: 20 }, () => 0);
    const unwatch = heard.map((_, index) =>
      folders.watch(() => {
        heard[index] = (heard[index] ?? 0) + 1;
      }),
    );
    unwatch[0]?.();
    // Another process writes the file.
    await new TrustedFolders(path.join(base, 'trusted.json')).trust(base, ['p1']);
    await expect.poll(() => heard.slice(1).every((times) => times > 0), { timeout: 5_000 }).toBe(true);
    expect(heard[0]).toBe(0);
    expect(warnings).toEqual([]);
    for (const end of unwatch) end();
  });
});
