/**
 * Shows pictures from the machine of the host in an answer: `![plot](out/plot.png)`. The host reads them, and only
 * where this
 * client may read. The bytes decide, not the name; SVG is a document and is not shown.
 */
import type { Client } from '@atrium/client';
import { fileReferenceUri } from '@atrium/protocol/ahp-1';

/** The host sends at most this much in one answer. */
export const LOCAL_IMAGE_MAX_BYTES = 4 * 2 ** 20;
/** The number of pictures in one block of an answer. */
export const LOCAL_IMAGES_MAX = 20;

const SIGNATURES: readonly (readonly [type: string, at: number, bytes: readonly number[]])[] = [
  ['image/png', 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ['image/jpeg', 0, [0xff, 0xd8, 0xff]],
  ['image/gif', 0, [0x47, 0x49, 0x46, 0x38]],
  ['image/webp', 8, [0x57, 0x45, 0x42, 0x50]],
];

/** Undefined for everything but pictures of these kinds. */
export function rasterType(bytes: Uint8Array): string | undefined {
  return SIGNATURES.find(([, at, signature]) => signature.every((byte, index) => bytes[at + index] === byte))?.[0];
}

export class LocalImages {
  #isOver = false;

  constructor(
    readonly client: Client,
    readonly folder: string | undefined,
  ) {}

  show(box: HTMLElement): void {
    const found = [...box.querySelectorAll<HTMLElement>('[data-image]')].slice(0, LOCAL_IMAGES_MAX);
    for (const element of found) void this.#show(element);
  }

  close(): void {
    this.#isOver = true;
  }

  async #show(element: HTMLElement): Promise<void> {
    const path = element.dataset.image ?? '';
    const uri = fileReferenceUri(path, this.folder);
    const source = uri && (await this.#source(uri).catch(() => undefined));
    if (!source || this.#isOver) return;
    const image = document.createElement('img');
    image.src = source;
    image.alt = (element.textContent ?? '').replace(/^Image: /, '');
    image.title = path;
    image.className = 'local-image';
    element.replaceWith(image);
  }

  async #source(uri: string): Promise<string | undefined> {
    const { type, size } = await this.client.request('resourceResolve', { uri });
    if (type === 'directory' || size === undefined || size > LOCAL_IMAGE_MAX_BYTES) return undefined;
    const { data, encoding } = await this.client.request('resourceRead', { uri, encoding: 'base64' });
    if (encoding !== 'base64' || data.length > 1.4 * LOCAL_IMAGE_MAX_BYTES) return undefined;
    const start = Uint8Array.from(atob(data.slice(0, 32)), (character) => character.charCodeAt(0));
    const kind = rasterType(start);
    return kind && `data:${kind};base64,${data}`;
  }
}
