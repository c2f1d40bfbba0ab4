/** A list to choose a session from, with the arrow keys. */
import type { SessionSummary } from '@atrium/protocol';
import { shortId } from '../sessions/reference.js';
import { activityOf, ago, folderText } from '../sessions/words.js';
import { printable } from '../text/printable.js';
import type { Style } from '../text/style.js';
import { cut, padded } from '../text/width.js';
import type { Key } from './keys.js';
import { Screen } from './screen.js';
import { Terminal } from './terminal.js';

const TITLE_COLUMNS = 40;
const STATE_COLUMNS = 8;

/** Resolves with the chosen one, or undefined when the person would rather not. */
export function pickSession(items: readonly SessionSummary[], style: Style): Promise<SessionSummary | undefined> {
  return new Promise((resolve) => {
    const screen = new Screen(process.stdout);
    let highlighted = 0;
    let filter = '';
    const matching = () => items.filter((item) => rowText(item).toLowerCase().includes(filter.toLowerCase()));
    const draw = () => screen.update([], { lines: lines(matching()), cursor: { row: 0, column: 0 } });
    const lines = (shown: readonly SessionSummary[]) => {
      const room = Math.max(3, screen.rows - 4);
      const from = Math.max(0, Math.min(highlighted - room + 1, shown.length - room));
      const rows = shown.slice(from, from + room).map((item, index) => {
        const isHere = index + from === highlighted;
        const text = cut(rowText(item), screen.columns - 2);
        return isHere ? `${style.green('›')} ${style.bold(text)}` : `  ${text}`;
      });
      const head = filter === '' ? 'Which session?' : `Which session? ${filter}`;
      return [style.bold(head), ...rows, style.dim('  ↑ ↓ choose · Enter opens · type to search · Esc leaves')];
    };
    const done = (choice: SessionSummary | undefined) => {
      terminal.close();
      resolve(choice);
    };
    const press = (key: Key) => {
      if (key.name === 'escape' || (key.ctrl && (key.name === 'c' || key.name === 'd'))) return done(undefined);
      if (key.name === 'enter') return done(matching()[highlighted]);
      if (key.name === 'text') filter += key.text ?? '';
      if (key.name === 'backspace') filter = filter.slice(0, -1);
      if (key.name === 'text' || key.name === 'backspace') highlighted = 0;
      const by = key.name === 'up' ? -1 : key.name === 'down' ? 1 : 0;
      highlighted = Math.max(0, Math.min(matching().length - 1, highlighted + by));
      draw();
    };
    const leave = () => done(undefined);
    const terminal = new Terminal({
      key: press,
      resize: draw,
      resumed: draw,
      leaving: () => screen.clear(),
      ended: leave,
    });
    terminal.open();
    draw();
  });
}

function rowText(summary: SessionSummary): string {
  const { resource, title, modifiedAt, workingDirectory } = summary;
  const name = padded(cut(printable(title), TITLE_COLUMNS), TITLE_COLUMNS);
  const state = padded(activityOf(summary), STATE_COLUMNS);
  return [
    name,
    state,
    padded(ago(modifiedAt, Date.now()), STATE_COLUMNS),
    shortId(resource),
    folderText(workingDirectory),
  ].join('  ');
}
