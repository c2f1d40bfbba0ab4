/** The pictures of the terminal client: the real command in tmux, whose screen with its colours is drawn in Chromium. `screenshots.mjs` takes them. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { COMMAND, IMAGES } from './pictures-host.mjs';
import { Problem, ROOT, say } from './process.mjs';

const run = promisify(execFile);

const SIZE = { cols: 92, rows: 26 };
const LOOK_AGAIN_MS = 100;
const TIMEOUT_MS = 60_000;
/** What is typed right after a question came up is not taken for its answer. */
const TYPING_GUARD_MS = 1_000;

/** As the page has them in the dark. */
const THEME = {
  ...{ background: '#1b1d1c', foreground: '#e7e7e1', cursor: '#63c5b6', black: '#3a3d3b', red: '#f09a8d' },
  ...{ green: '#86d39a', yellow: '#e0b878', blue: '#9dbdf0', magenta: '#d7a6e0', cyan: '#63c5b6', white: '#d5d6d0' },
  ...{ brightBlack: '#8b8f89', brightRed: '#f7b3a8', brightGreen: '#a5e2b5', brightYellow: '#f0cf98' },
  ...{ brightBlue: '#b9d1f7', brightMagenta: '#e6c2ec', brightCyan: '#8ad9cc', brightWhite: '#f4f4ef' },
};

/** @param {import('./pictures-host.mjs').Scene} scene */
export async function takeTerminal({ folder, project, env, browser }) {
  const screen = await drawnIn(browser);
  const window = await openWindow(path.join(folder, 'tmux'), project, env);
  const take = async (/** @type {string} */ name) => {
    const { text, cursor } = await window.capture();
    await screen.draw(text, cursor, path.join(IMAGES, `${name}.png`));
    say(`docs/images/${name}.png`);
  };
  try {
    await play(window, take);
  } finally {
    await window.end();
    await screen.close();
  }
}

/** @param {Awaited<ReturnType<typeof openWindow>>} window @param {(name: string) => Promise<void>} take */
async function play({ type, key, sees }, take) {
  await type('atrium chat');
  await sees(/write a message/);
  await type('sum() returns the last value. Please fix it.');
  await sees(/y Allow/);
  await take('terminal-approval');
  await pause(TYPING_GUARD_MS);
  await key('y');
  await sees(/\/changes\s+> write a message/);
  await type('/diff sum.js');
  await sees(/\+.*total \+= value;[\s\S]*> write a message/);
  await take('terminal-diff');
  await type('/new');
  await sees(/New session[^\n]*\/help/);
  await type('Add the average.');
  await sees(/To-dos: 1 of 4 done[\s\S]*y Allow/);
  await take('terminal-todos');
  await pause(TYPING_GUARD_MS);
  await key('y');
  await sees(/Written\.[\s\S]*> write a message/);
  await type('/search sum');
  await sees(/choose/);
  await take('terminal-search');
  await key('Escape');
  await sees(/> write a message/);
  for (const rule of ['allow shell(git diff *) person', 'ask shell(npm publish) project', 'deny shell(rm *) session']) {
    await type(`/permissions ${rule}`);
    await pause(TYPING_GUARD_MS);
  }
  await type('/permissions');
  await sees(/Permission rules; [\s\S]*rm \*[\s\S]*> write a message/);
  await type('/permissions test git diff HEAD; rm -rf build');
  await pause(TYPING_GUARD_MS);
  await sees(/> write a message/);
  await take('terminal-permissions');
}

/** A shell in tmux, in which `atrium` is the command. @param {string} socket @param {string} cwd @param {NodeJS.ProcessEnv} env */
async function openWindow(socket, cwd, env) {
  const { TMUX: _, NO_COLOR: __, ...outside } = env;
  const options = { cwd, env: { ...outside, TERM: 'xterm-256color', LC_ALL: 'C.UTF-8' } };
  const tmux = async (/** @type {string[]} */ ...words) =>
    (await run('tmux', ['-S', socket, '-f', '/dev/null', '-u', ...words], options)).stdout;
  await tmux('new-session', '-d', '-x', String(SIZE.cols), '-y', String(SIZE.rows), 'bash --norc --noprofile');
  const key = (/** @type {string[]} */ ...keys) => tmux('send-keys', ...keys);
  const type = async (/** @type {string} */ text) => {
    await tmux('send-keys', '-l', text);
    // A finished word is shown, and what could complete it has gone, before Enter comes.
    await pause(3 * LOOK_AGAIN_MS);
    await key('Enter');
  };
  const sees = async (/** @type {RegExp} */ pattern) => {
    for (const end = Date.now() + TIMEOUT_MS; ; await pause(LOOK_AGAIN_MS)) {
      const text = await tmux('capture-pane', '-p');
      if (pattern.test(text)) return;
      if (Date.now() > end) throw new Problem(`${pattern} never showed in the terminal:\n${text}`);
    }
  };
  await type(`PS1='$ '; atrium() { ${process.execPath} ${COMMAND} "$@"; }; clear`);
  await pause(TYPING_GUARD_MS);
  const capture = async () => {
    await pause(TYPING_GUARD_MS);
    const text = (await tmux('capture-pane', '-e', '-p')).replace(/\n$/, '');
    const place = await tmux('display-message', '-p', '#{cursor_y};#{cursor_x};#{cursor_flag}');
    const [row = 0, column = 0, isShown = 0] = place.split(';').map(Number);
    return { text, cursor: `\u001b[${row + 1};${column + 1}H\u001b[?25${isShown === 1 ? 'h' : 'l'}` };
  };
  return { key, type, sees, capture, end: () => tmux('kill-server') };
}

/** The emulator that the page has for terminals, alone on a page. @param {import('playwright-core').Browser} browser */
async function drawnIn(browser) {
  const page = await browser.newPage({ viewport: { width: 1000, height: 700 } });
  const emulator = path.join(ROOT, 'node_modules', '@xterm', 'xterm');
  const style = `body { margin: 0; background: ${THEME.background} } #at { display: inline-block; padding: 12px }`;
  await page.setContent(`<style>${style}</style><div id="at"></div>`);
  await page.addStyleTag({ path: path.join(emulator, 'css', 'xterm.css') });
  await page.addScriptTag({ path: path.join(emulator, 'lib', 'xterm.js') });
  const draw = async (/** @type {string} */ text, /** @type {string} */ cursor, /** @type {string} */ file) => {
    const options = {
      ...SIZE,
      theme: THEME,
      fontSize: 14,
      fontFamily: 'DejaVu Sans Mono, monospace',
      convertEol: true,
    };
    await page.evaluate(`new Promise((drawn) => {
      document.querySelector('#at').replaceChildren();
      const terminal = new Terminal(${JSON.stringify({ ...options, cursorInactiveStyle: 'block' })});
      terminal.open(document.querySelector('#at'));
      terminal.write(${JSON.stringify(text + cursor)}, drawn);
    })`);
    // It draws with the next frame.
    await page.waitForTimeout(3 * LOOK_AGAIN_MS);
    await page.locator('#at').screenshot({ path: file });
  };
  return { draw, close: () => page.close() };
}
