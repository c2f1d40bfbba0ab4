/**
 * The sample providers that the provider interface prints in its own text. They are not ours, so they are read from
 * wherever `ATRIUM_PROVIDER_SAMPLES` says the text is, as Markdown or as a listing of changes, and run as they stand.
 */
import { existsSync, readFileSync } from 'node:fs';

export interface PrintedSamples {
  /** Those for Node, in their order: the quick start first. */
  readonly node: readonly string[];
  readonly browser: string | undefined;
  readonly python: string | undefined;
}

/** Undefined when there is no such text here. */
export function printedSamples(file = process.env.ATRIUM_PROVIDER_SAMPLES ?? ''): PrintedSamples | undefined {
  if (!existsSync(file)) return undefined;
  const blocks = [...withoutMarks(readFileSync(file, 'utf8')).matchAll(/^```(js|python)\n(.*?)^```/gms)];
  const texts = (language: string) => blocks.flatMap(([, found, text = '']) => (found === language ? [text] : []));
  const scripts = texts('js').filter((text) => text.includes('new WebSocket('));
  return {
    node: scripts.filter((text) => text.includes('import WebSocket from')),
    browser: scripts.find((text) => text.includes('new WebSocket(`ws://')),
    python: texts('python').find((text) => text.includes('websockets.connect')),
  };
}

/** A listing of changes has a number in every other line, and a plus before the text. */
function withoutMarks(text: string): string {
  const lines = text.split('\n');
  const isListing = lines.filter((line) => line.startsWith('+')).length > lines.length / 3;
  if (!isListing) return text;
  return lines.flatMap((line) => (line.startsWith('+') ? [line.replace(/^\+ ?/, '')] : [])).join('\n');
}

/** How deep the statements of the printed Python stand, one after the other. Within brackets it does not matter. */
const DEPTHS = [0, 0, 0, 1, 2, 2, 3, 3, 4, 3, 4, 5, 4, 5, 4, 3, 4, 0];

/** Gives the lines of the printed Python their spaces back, and changes nothing else. Undefined for any other text. */
export function indented(text: string): string | undefined {
  let statements = 0;
  let open = 0;
  const lines = text.split('\n').map((line) => {
    const isStatement = open === 0 && line.trim() !== '';
    open += (line.match(/[([{]/g)?.length ?? 0) - (line.match(/[)\]}]/g)?.length ?? 0);
    return isStatement ? `${'    '.repeat(DEPTHS[statements++] ?? 0)}${line.trim()}` : line;
  });
  return statements === DEPTHS.length ? lines.join('\n') : undefined;
}
