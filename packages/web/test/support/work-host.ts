/** A real host with a real folder to work in: files, a Git repository if wanted, terminals, and a place for contents. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type AgentBackend,
  builtinTools,
  createHost,
  MemoryLog,
  type Script,
  scriptedAgent,
  startServer,
  staticFiles,
} from '@atrium/host';
import type { Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { PAGE_FOLDER } from './browser.js';
import { TOKEN } from './page-host.js';
import { onLastingPort } from './ports.js';

export interface WorkHost {
  readonly link: string;
  /** The folder that sessions work in. */
  readonly folder: string;
  git(...args: readonly string[]): string;
}

interface Options {
  readonly prompts?: Script['prompts'];
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly isRepository?: boolean;
  /** Instead of the scripted one. */
  readonly agents?: readonly AgentBackend[];
}

export async function startWorkHost({ prompts = {}, files = {}, isRepository, agents }: Options): Promise<WorkHost> {
  const base = await mkdtemp(path.join(tmpdir(), 'atrium-web-'));
  const folder = path.join(base, 'project');
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), content);
  }
  await mkdir(folder, { recursive: true });
  const git = (...args: readonly string[]) => execFileSync('git', [...IDENTITY, ...args], { cwd: folder }).toString();
  if (isRepository) for (const args of BEGINNING) git(...args);
  const host = await createHost({
    log: new MemoryLog(),
    agents: agents ?? [mockAgent(prompts)],
    tools: builtinTools(),
    defaultDirectory: pathToFileURL(folder).href,
    dataFolder: path.join(base, 'data'),
    terminals: { shell: '/bin/sh' },
    settings: [{ key: 'titles', value: 'false', source: 'file', from: '/srv/atrium.json' }],
    trust: { isTrusted: async () => true, allows: async () => true, trust: async () => {} },
    customizations: {
      userFolder: path.join(base, 'agents'),
      userConfigFile: path.join(base, 'config.json'),
      dataFolder: path.join(base, 'plugins'),
    },
  });
  const policy = { token: TOKEN, isGenerated: true, allowedOrigins: [], allowedHosts: [] };
  const page = await staticFiles(PAGE_FOLDER);
  const onConnection = host.connect.bind(host);
  const server = await onLastingPort((port) =>
    startServer({ port, policy, page, devices: host.devices, onConnection }),
  );
  onTestFinished(async () => {
    await host.stop();
    await server.close();
    await rm(base, { recursive: true, force: true });
  });
  return { folder, git, link: `http://localhost:${server.port}/#token=${TOKEN}` };
}

const IDENTITY = ['-c', 'user.name=Test', '-c', 'user.email=test@localhost', '-c', 'commit.gpgsign=false'];
const BEGINNING = [
  ['init', '--quiet', '--initial-branch=main'],
  ['add', '--all'],
  ['commit', '--quiet', '--allow-empty', '--message=First'],
];

function mockAgent(prompts: Script['prompts']): AgentBackend {
  return scriptedAgent({
    provider: 'mock',
    displayName: 'Mock',
    models: [{ id: 'mock-1', name: 'Mock one' }],
    prompts,
    default: [{ text: 'You said: ${text}' }],
  });
}

/** Everything that the page complained about: errors, and what its content policy forbids. */
export function complaintsOf(page: Page): readonly string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  return complaints;
}

export async function openTab(page: Page, name: 'Files' | 'Changes' | 'Terminal'): Promise<void> {
  const tab = page.getByRole('tab', { name });
  const details = page.getByRole('button', { name: 'Details', exact: true });
  await details.waitFor();
  if ((await details.getAttribute('aria-pressed')) !== 'true') await details.click();
  await tab.click();
}
