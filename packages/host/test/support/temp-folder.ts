/** A folder for one test, with some files in it, that is gone when the test is. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

export async function tempFolder(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'atrium-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  return folder;
}
