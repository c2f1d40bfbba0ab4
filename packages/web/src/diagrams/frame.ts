/**
 * Runs in a frame of its own, without an origin and without a network: draws diagrams and returns them as SVG text,
 * which the
 * page shows as a picture. A hostile source can only affect this frame.
 */
import mermaid from '@mermaid-js/tiny';
import type { DiagramAnswer, DiagramRequest } from './messages.js';

/** A source can set many options of its appearance. This lists those that it must not set. */
const FIXED = [
  'secure',
  'securityLevel',
  'startOnLoad',
  'maxTextSize',
  'maxEdges',
  'suppressErrorRendering',
  'htmlLabels',
];
const WHY_MAX_CHARACTERS = 500;

function tell(answer: DiagramAnswer): void {
  parent.postMessage(answer, '*');
}

addEventListener('message', ({ data, source }: MessageEvent<DiagramRequest>) => {
  if (source === parent) void draw(data);
});
tell({ kind: 'ready' });

async function draw({ id, source, colours, limits }: DiagramRequest): Promise<void> {
  try {
    mermaid.initialize({
      ...{ startOnLoad: false, securityLevel: 'strict', suppressErrorRendering: true, secure: FIXED },
      ...{ maxTextSize: limits.characters, maxEdges: limits.edges },
      // Text as SVG: HTML inside a picture depends on the browser.
      htmlLabels: false,
      flowchart: { htmlLabels: false },
      theme: 'base',
      fontFamily: 'system-ui, sans-serif',
      themeVariables: variablesOf(colours),
    });
    const { svg } = await mermaid.render(`diagram-${id}`, source);
    tell({ kind: 'drawn', id, ...pictureOf(svg) });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    tell({ kind: 'failed', id, why: why.slice(0, WHY_MAX_CHARACTERS) });
  } finally {
    for (const left of document.querySelectorAll('body > :not(script)')) left.remove();
  }
}

function variablesOf({ isDark, paper, raised, sunken, wash, ink, soft, line }: DiagramRequest['colours']) {
  return {
    ...{ darkMode: isDark, background: paper, fontSize: '15px' },
    ...{ primaryColor: raised, primaryTextColor: ink, primaryBorderColor: line },
    ...{ secondaryColor: wash, secondaryTextColor: ink, secondaryBorderColor: line },
    ...{ tertiaryColor: sunken, tertiaryTextColor: ink, tertiaryBorderColor: line },
    ...{ lineColor: soft, textColor: ink, titleColor: ink, edgeLabelBackground: paper, noteBkgColor: wash },
    ...{ noteTextColor: ink, noteBorderColor: line, actorTextColor: ink, signalColor: ink, signalTextColor: ink },
  };
}

/** Makes the SVG a document with a size, so that the picture has one. */
function pictureOf(html: string): { svg: string; width: number; height: number } {
  const box = document.createElement('div');
  box.innerHTML = html;
  const svg = box.querySelector('svg');
  if (!svg) throw new Error('The library drew nothing.');
  const [, , width = 0, height = 0] = (svg.getAttribute('viewBox') ?? '').split(/[\s,]+/).map(Number);
  if (!(width > 0 && height > 0)) throw new Error('The picture has no size.');
  svg.setAttribute('width', String(Math.ceil(width)));
  svg.setAttribute('height', String(Math.ceil(height)));
  svg.removeAttribute('style');
  return { svg: new XMLSerializer().serializeToString(svg), width: Math.ceil(width), height: Math.ceil(height) };
}
