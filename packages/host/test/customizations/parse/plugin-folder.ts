/** Makes a real folder for one test and reads it as the host would. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ChildCustomizationType } from '@atrium/protocol';
import { onTestFinished } from 'vitest';
import { type LoadedPlugin, type LoadOptions, loadDirectory, loadPlugin } from '../../../src/plugins/formats/load.js';
import { localFiles } from '../../../src/plugins/formats/plugin-files.js';

/** Texts by path; anything else is written as JSON. */
export type Contents = Readonly<Record<string, unknown>>;

export const OPTIONS: LoadOptions = {
  containerId: 'c1',
  pluginRoot: '/plugins/demo',
  pluginData: '/data/demo',
  env: { TOKEN: 'from-env' },
  platform: 'linux',
};

/** The folder is gone when the test is over. Its last name is `demo` unless told. */
export async function folderWith(contents: Contents, name = 'demo'): Promise<string> {
  const outer = await realpath(await mkdtemp(path.join(tmpdir(), 'atrium-plugin-')));
  onTestFinished(() => rm(outer, { recursive: true, force: true }));
  const root = path.join(outer, name);
  await mkdir(root, { recursive: true });
  await fill(root, contents);
  return root;
}

export async function fill(root: string, contents: Contents): Promise<void> {
  const files = Object.entries(contents);
  const folders = new Set(files.map(([file]) => path.dirname(path.join(root, file))));
  await Promise.all([...folders].map((folder) => mkdir(folder, { recursive: true })));
  const text = (content: unknown) => (typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  await Promise.all(files.map(([file, content]) => writeFile(path.join(root, file), text(content))));
}

export async function loadWith(contents: Contents, options: Partial<LoadOptions> = {}): Promise<LoadedPlugin> {
  return loadPlugin(localFiles(await folderWith(contents)), { ...OPTIONS, ...options });
}

export async function loadDirectoryWith(contents: ChildCustomizationType, files: Contents) {
  return loadDirectory(localFiles(await folderWith(files)), { ...OPTIONS, contents });
}

export const OP = '.plugin/plugin.json';
export const NAMED = { name: 'demo' };
export const SKILL = '---\ndescription: Does things.\n---\nDo it.\n';
export const AGENT = (name: string) => `---\nname: ${name}\ndescription: Helps.\n---\nYou help.\n`;
export const AP_SCHEMA = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json';
export const AP_MCP_SCHEMA = 'https://agent-plugins.org/schemas/1.0.0/mcp.schema.json';
export const AP_SKILL = (name: string) => `---\nname: ${name}\ndescription: Does things.\n---\nDo it.\n`;

export function kinds({ warnings }: Pick<LoadedPlugin, 'warnings'>): string[] {
  return warnings.map(({ kind }) => kind);
}

export function names({ children }: Pick<LoadedPlugin, 'children'>): string[] {
  return children.map(({ type, name }) => `${type} ${name}`);
}
