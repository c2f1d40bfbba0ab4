/**
 * Fits two libraries to the page that load only when they are needed. The diagrams' library comes as a script that sets a
 * global; here it becomes a module. Of the fonts for formulas only the format that all browsers read is taken. When a new version
 * looks different, the build says so.
 */
import type { Plugin } from 'vite';

const GLOBAL = 'globalThis["mermaid"] = globalThis.__esbuild_esm_mermaid_nm["mermaid"].default;';
const MODULE = 'export default __esbuild_esm_mermaid_nm.mermaid.default;';
const OLD_FONT = /,url\([^)]*\.(?:woff|ttf)\) format\("(?:woff|truetype)"\)/g;
const OLD_FONTS = 40;

export function lateLibraries(): Plugin {
  return {
    name: 'atrium-late-libraries',
    enforce: 'pre',
    transform(code, id) {
      if (/@mermaid-js[\\/]tiny[\\/]dist[\\/]mermaid\.tiny\.js$/.test(id)) return asModule(code);
      if (/katex[\\/]dist[\\/]katex\.min\.css$/.test(id)) return withoutOldFonts(code);
      return undefined;
    },
  };
}

function asModule(code: string): string {
  const pieces = code.split(GLOBAL);
  if (pieces.length !== 2) throw new Error('late-libraries.ts: @mermaid-js/tiny does not end as expected.');
  return pieces.join(MODULE);
}

function withoutOldFonts(code: string): string {
  const found = code.match(OLD_FONT)?.length ?? 0;
  if (found !== OLD_FONTS)
    throw new Error(`late-libraries.ts: expected ${OLD_FONTS} old fonts of KaTeX, found ${found}.`);
  return code.replace(OLD_FONT, '');
}
