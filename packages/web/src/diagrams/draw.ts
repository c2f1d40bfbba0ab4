/**
 * Draws diagrams in a frame that can do nothing else: it has no origin, no network and no storage. The first diagram
 * creates the
 * frame; the page removes it when nothing needs it, or when it does not answer in time.
 */
import {
  DIAGRAM_EDGES_MAX,
  DIAGRAM_PICTURE_MAX_CHARACTERS,
  DIAGRAM_SOURCE_MAX_CHARACTERS,
  type DiagramAnswer,
  type DiagramColours,
  type DiagramRequest,
} from './messages.js';

/** The library has to come over the network first. */
const LOAD_MS = 20_000;
export const DRAW_MS = 5_000;
const IDLE_MS = 30_000;
const KEPT_MAX = 50;
const LIMITS = { characters: DIAGRAM_SOURCE_MAX_CHARACTERS, edges: DIAGRAM_EDGES_MAX };
const FRAME_ADDRESS = '/diagram/frame.html';

export interface Picture {
  /** A `data:` URI. As the source of a picture it can run and load nothing. */
  readonly source: string;
  readonly width: number;
  readonly height: number;
}

const kept = new Map<string, Promise<Picture>>();
/** The queue: each diagram waits for those before it. */
let line: Promise<unknown> = Promise.resolve();

/** Rejects with a reason for people. */
export function drawDiagram(source: string, colours: DiagramColours): Promise<Picture> {
  if (source.length > DIAGRAM_SOURCE_MAX_CHARACTERS)
    return Promise.reject(
      new Error(`It has more than ${DIAGRAM_SOURCE_MAX_CHARACTERS.toLocaleString('en')} characters.`),
    );
  const key = JSON.stringify([source, colours]);
  const known = kept.get(key);
  if (known) return known;
  const drawn = line.then(() => drawNow(source, colours));
  line = drawn.catch(() => {});
  if (kept.size >= KEPT_MAX) kept.clear();
  kept.set(key, drawn);
  return drawn;
}

interface Frame {
  readonly element: HTMLIFrameElement;
  readonly isReady: Promise<unknown>;
}

let frame: Frame | undefined;
let idle: ReturnType<typeof setTimeout> | undefined;
let count = 0;

async function drawNow(source: string, colours: DiagramColours): Promise<Picture> {
  clearTimeout(idle);
  frame ??= openFrame();
  const { element, isReady } = frame;
  try {
    await isReady;
    const request: DiagramRequest = { id: ++count, source, colours, limits: LIMITS };
    const answered = answerOf(element, DRAW_MS, (answer) => 'id' in answer && answer.id === request.id);
    // The frame has no origin that could be named.
    element.contentWindow?.postMessage(request, '*');
    const answer = await answered;
    if (answer.kind === 'drawn') return pictureOf(answer);
    throw new Error(answer.kind === 'failed' ? String(answer.why) : 'The frame did not understand.');
  } catch (error) {
    if (error instanceof Late) closeFrame();
    throw error;
  } finally {
    idle = setTimeout(closeFrame, IDLE_MS);
  }
}

class Late extends Error {}

function openFrame(): Frame {
  const element = document.createElement('iframe');
  element.setAttribute('sandbox', 'allow-scripts');
  element.className = 'diagram-frame';
  element.title = 'Draws diagrams';
  element.tabIndex = -1;
  element.ariaHidden = 'true';
  element.src = FRAME_ADDRESS;
  document.body.append(element);
  return { element, isReady: answerOf(element, LOAD_MS, ({ kind }) => kind === 'ready') };
}

function closeFrame(): void {
  frame?.element.remove();
  frame = undefined;
}

function answerOf(
  element: HTMLIFrameElement,
  waitMs: number,
  isMeant: (answer: DiagramAnswer) => boolean,
): Promise<DiagramAnswer> {
  return new Promise((resolve, reject) => {
    const heard = ({ data, source }: MessageEvent<DiagramAnswer>) => {
      if (source !== element.contentWindow || typeof data !== 'object' || data === null || !isMeant(data)) return;
      end();
      resolve(data);
    };
    const timer = setTimeout(() => {
      end();
      reject(new Late('It took too long.'));
    }, waitMs);
    const end = () => {
      clearTimeout(timer);
      removeEventListener('message', heard);
    };
    addEventListener('message', heard);
  });
}

function pictureOf({ svg, width, height }: Extract<DiagramAnswer, { kind: 'drawn' }>): Picture {
  const isPicture = typeof svg === 'string' && svg.length <= DIAGRAM_PICTURE_MAX_CHARACTERS && svg.startsWith('<svg');
  if (!isPicture || !Number.isFinite(width) || !Number.isFinite(height)) throw new Error('The picture is too large.');
  return { source: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`, width, height };
}
