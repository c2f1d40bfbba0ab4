/** The current colours of the page, for pictures that are drawn outside it. */
import type { Readable } from '../model/store.js';
import { theme } from '../ui/preferences.js';
import type { DiagramColours } from './messages.js';

const DARK = matchMedia('(prefers-color-scheme: dark)');
const NAMES = {
  ...{ paper: '--paper', raised: '--raised', sunken: '--sunken', wash: '--accent-wash' },
  ...{ ink: '--ink', soft: '--ink-soft', line: '--line-strong' },
} as const;

let last: { readonly key: string; readonly colours: DiagramColours } | undefined;

export const shownColours: Readable<DiagramColours> = {
  get() {
    const key = `${theme.get()} ${DARK.matches}`;
    if (last?.key !== key) last = { key, colours: coloursNow() };
    return last.colours;
  },
  subscribe(listener) {
    const off = theme.subscribe(listener);
    DARK.addEventListener('change', listener);
    return () => {
      off();
      DARK.removeEventListener('change', listener);
    };
  },
};

/** The value of a custom property is a formula; the browser computes only colours that are in use. */
function coloursNow(): DiagramColours {
  const probe = document.createElement('span');
  document.body.append(probe);
  const colours = Object.entries(NAMES).map(([name, property]) => {
    probe.style.color = `var(${property})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  const named = Object.fromEntries(colours) as Omit<DiagramColours, 'isDark'>;
  return { ...named, isDark: brightness(named.paper) < 128 };
}

function brightness(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/\d+(?:\.\d+)?/g) ?? []).map(Number);
  return 0.3 * red + 0.6 * green + 0.1 * blue;
}
