/** Describes a picture that the terminal does not show. */
import { printable } from './printable.js';

interface PictureFacts {
  readonly name?: string | undefined;
  readonly size?: { readonly width: number; readonly height: number } | undefined;
  readonly contentType?: string | undefined;
  readonly bytes?: number | undefined;
}

/** `shot.png, 120×80 png, 14 kB`, without the unknown parts. */
export function pictureWords({ name = '', size, contentType = '', bytes }: PictureFacts): string {
  const kind = printable(contentType.replace(/^(?:image|application)\//, ''));
  const extent = size ? `${size.width}×${size.height} ${kind}`.trim() : kind;
  const parts = [printable(name), extent, bytes === undefined ? '' : bytesText(bytes)];
  return parts.filter((part) => part !== '').join(', ');
}

function bytesText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
