/**
 * Makes the terminal work under the page's content policy, which allows no inline styles. The library writes its rules
 * into `<style>` elements and colours into `style` attributes; both are given another way that the policy allows. When a
 * new version of the library looks different, the build says so instead of a terminal without colours.
 */
import type { Plugin } from 'vite';

/** Our element takes rules as text and adopts them as a sheet; see `src/terminals/style-element.ts`. */
const CHANGES: readonly (readonly [from: string, to: string, times: number])[] = [
  ['createElement("style")', 'createElement("atrium-style")', 3],
  ['t.setAttribute("style",`${t.getAttribute("style")||""}${e};`)', 't.style.cssText+=`${e};`', 1],
];

export function strictXterm(): Plugin {
  return {
    name: 'atrium-strict-xterm',
    enforce: 'pre',
    transform(code, id) {
      if (!/@xterm[\\/]xterm[\\/]lib[\\/]xterm\.mjs$/.test(id)) return undefined;
      return CHANGES.reduce(changed, code);
    },
  };
}

function changed(code: string, [from, to, times]: (typeof CHANGES)[number]): string {
  const pieces = code.split(from);
  if (pieces.length - 1 === times) return pieces.join(to);
  throw new Error(`strict-xterm.ts: expected ${from} ${times} times, found it ${pieces.length - 1} times.`);
}
