/** What all pictures are taken of: a small project, a real host with a scripted agent, and a browser in which it is open. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT, say } from './process.mjs';

export const IMAGES = path.join(ROOT, 'docs', 'images');
export const COMMAND = path.join(ROOT, 'packages', 'cli', 'bin', 'atrium.js');

const SUM_BEFORE =
  'export function sum(values) {\n  let total = 0;\n  for (const value of values) total = value;\n  return total;\n}\n';

/** @typedef {Awaited<ReturnType<typeof openScene>>} Scene */

/**
 * @param {{
 *   browser: import('playwright-core').Browser,
 *   script: object,
 *   viewport: { width: number, height: number },
 *   prepare: (folder: string, project: string) => Promise<{ stop: () => void }>,
 * }} options
 */
export async function openScene({ browser, script, viewport, prepare }) {
  const folder = mkdtempSync(path.join(tmpdir(), 'atrium-pictures-'));
  const project = path.join(folder, 'calculator');
  mkdirSync(project);
  mkdirSync(IMAGES, { recursive: true });
  writeProject(project);
  commitAll(project);
  writeFileSync(path.join(folder, 'script.json'), JSON.stringify(script));
  // The pictures must not show the shell prompt of the person who takes them.
  writeFileSync(path.join(folder, '.bashrc'), "PS1='\\w $ '\n");
  writeFileSync(path.join(folder, '.gitconfig'), '[user]\nname = desk\nemail = desk@example.com\n');
  const model = await prepare(folder, project);
  const host = await startHost(folder, project);
  const desk = await (await browser.newContext({ viewport, colorScheme: 'light' })).newPage();
  return {
    ...{ browser, folder, project, host, desk, env: host.env },
    open: async () => {
      await desk.goto(host.link);
      await desk.getByRole('heading', { name: 'What should we work on?' }).waitFor();
    },
    take: (/** @type {string} */ name) => take(desk, name),
    begin: (/** @type {string} */ text) => begin(desk, text),
    anew: () => anew(desk),
    openTab: (/** @type {string} */ name) => openTab(desk, name),
    close: async () => {
      await host.stop();
      model.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A sum that is wrong. @param {string} project */
export function writeProject(project) {
  writeFileSync(path.join(project, 'sum.js'), SUM_BEFORE);
  writeFileSync(path.join(project, 'README.md'), '# Calculator\n\nAdds numbers.\n');
  const about = { name: 'calculator', type: 'module', scripts: { test: 'node --test' } };
  writeFileSync(path.join(project, 'package.json'), `${JSON.stringify(about, undefined, 2)}\n`);
}

/** @param {string} project */
export function commitAll(project) {
  const identity = ['-c', 'user.name=desk', '-c', 'user.email=desk@example.com'];
  const git = (/** @type {string[]} */ ...args) => execFileSync('git', ['-C', project, ...identity, ...args]);
  git('init', '--quiet', '-b', 'main');
  git('add', '.');
  git('commit', '--quiet', '-m', 'A calculator');
}

/** @param {string} folder @param {string} project */
async function startHost(folder, project) {
  const dataDir = path.join(folder, 'data');
  const args = ['serve', '--quiet', '--port', '0', '--gateway-port', '0', '--data-dir', dataDir];
  const config = path.join(folder, '.config');
  const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: config, ATRIUM_DISCOVERY: '0' };
  const child = spawn(process.execPath, [COMMAND, ...args, '--script', path.join(folder, 'script.json')], {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => resolve(/READY:(\d+)/.exec(String(chunk))?.[1]));
    child.once('exit', (code) => reject(new Error(`the host ended with ${code}`)));
  });
  const token = readFileSync(path.join(dataDir, 'connection-token'), 'utf8').trim();
  const stop = () =>
    new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve(undefined);
      child.once('exit', resolve);
      child.kill('SIGTERM');
    });
  const url = `http://localhost:${port}/`;
  /** For commands that talk to this host. */
  const own = { ...env, ATRIUM_DATA_DIR: dataDir };
  return { url, link: `${url}#token=${token}`, env: own, stop };
}

/** @param {import('playwright-core').Page} page */
export async function anew(page) {
  await page.getByRole('link', { name: 'New', exact: true }).click();
  await page.getByRole('textbox', { name: 'First message' }).waitFor();
}

/** @param {import('playwright-core').Page} page @param {string} name */
export async function openTab(page, name) {
  const tab = page.getByRole('tab', { name });
  if (!(await tab.isVisible())) await page.getByRole('button', { name: 'Details', exact: true }).click();
  await tab.click();
}

/** @param {import('playwright-core').Page} page @param {string} text */
export async function begin(page, text) {
  await page.getByRole('textbox', { name: 'First message' }).fill(text);
  await page.keyboard.press('Enter');
}

/** @param {import('playwright-core').Page} page @param {string} name */
export async function take(page, name) {
  // Fonts, colours of code and the first layout need a moment.
  await page.waitForTimeout(400);
  await page.screenshot({ path: path.join(IMAGES, `${name}.png`) });
  say(`docs/images/${name}.png`);
}
