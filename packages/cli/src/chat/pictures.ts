/** The pictures of messages and tool results: one line for each, and the picture itself where the terminal can show it. */
import {
  isPicture,
  type Message,
  pictureOf,
  pictureSize,
  type ResponsePart,
  type ToolCallState,
} from '@atrium/protocol/ahp-1';
import { INLINE_MAX_BYTES, inlinePicture, type PictureProtocol } from '../text/inline-pictures.js';
import { pictureWords } from '../text/picture-words.js';
import { cut } from '../text/width.js';
import type { ViewOptions } from './call-view.js';

/** How many pictures of one message or call the chat shows; it only names the others. */
const SHOWN_MAX = 4;

export interface PictureRef {
  readonly name?: string | undefined;
  readonly contentType?: string | undefined;
  readonly size?: { readonly width: number; readonly height: number } | undefined;
  readonly bytes?: number | undefined;
  readonly source: { readonly data: string } | { readonly uri: string };
}

/** The members of an attachment, a block of a result or a part that tell whether it is a picture. */
interface Content {
  readonly type?: string;
  readonly label?: string;
  readonly contentType?: string | undefined;
  readonly data?: string;
  readonly uri?: string;
  readonly sizeHint?: number | undefined;
  readonly _meta?: Record<string, unknown> | undefined;
}

function refOf(content: Content): PictureRef | undefined {
  const { label, contentType, data, uri, sizeHint, _meta } = content;
  if (!isPicture({ type: content.type ?? '', contentType })) return undefined;
  if (data !== undefined) {
    const bytes = Buffer.from(data, 'base64');
    const found = pictureOf(bytes);
    return {
      name: label,
      contentType: found?.contentType ?? contentType,
      size: found,
      bytes: bytes.length,
      source: { data },
    };
  }
  if (uri === undefined) return undefined;
  const name = label ?? (uri.startsWith('file:') ? decoded(uri.slice(uri.lastIndexOf('/') + 1)) : undefined);
  return { name, contentType, size: pictureSize({ _meta }), bytes: sizeHint, source: { uri } };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const refs = (contents: readonly Content[]) => contents.flatMap((content) => refOf(content) ?? []);

export function picturesOfCall(call: ToolCallState): PictureRef[] {
  return 'content' in call ? refs((call.content ?? []) as readonly Content[]) : [];
}

export function picturesOfMessage({ attachments = [] }: Message): PictureRef[] {
  return refs(attachments as readonly Content[]);
}

export function pictureOfPart(part: ResponsePart): PictureRef | undefined {
  return part.kind === 'contentRef' ? refOf(part) : undefined;
}

/** `[picture: shot.png, 120×80 png, 14 kB]` */
export function pictureLine(picture: PictureRef, { style, columns }: ViewOptions): string {
  return style.dim(cut(`  [picture: ${pictureWords(picture)}]`, columns));
}

interface PicturesOptions {
  readonly protocol: PictureProtocol | undefined;
  read(uri: string, maxBytes: number): Promise<Uint8Array>;
  view(): ViewOptions;
  /** Puts lines into the scrollback. */
  show(lines: readonly string[]): void;
}

/** Fetches pictures whose lines have gone up, and shows them below, in order. */
export class Pictures {
  readonly #options: PicturesOptions;
  #shown: Promise<void> = Promise.resolve();

  constructor(options: PicturesOptions) {
    this.#options = options;
  }

  show(pictures: readonly PictureRef[]): void {
    const { protocol } = this.#options;
    if (!protocol) return;
    for (const picture of pictures.slice(0, SHOWN_MAX))
      this.#shown = this.#shown.then(() => this.#one(picture, protocol)).catch(() => {});
  }

  /** A picture that cannot be fetched or shown keeps only its line. */
  async #one({ source, bytes = 0 }: PictureRef, protocol: PictureProtocol): Promise<void> {
    const { read, view, show } = this.#options;
    if (bytes > INLINE_MAX_BYTES) return;
    const content = 'data' in source ? Buffer.from(source.data, 'base64') : await read(source.uri, INLINE_MAX_BYTES);
    const { columns, rows = 24 } = view();
    const sequence = inlinePicture(content, { protocol, columns, rows });
    if (sequence !== undefined) show([sequence, '']);
  }
}
