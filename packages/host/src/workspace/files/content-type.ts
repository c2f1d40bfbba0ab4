/** The content type of files, by the end of their names, and of stored contents, by their first bytes. */
import { isUtf8 } from 'node:buffer';
import path from 'node:path';
import { typeOfBeginning } from '@atrium/protocol/ahp-1';

const BY_EXTENSION: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.csv': 'text/csv',
  '.gif': 'image/gif',
  '.htm': 'text/html',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.log': 'text/plain',
  '.md': 'text/markdown',
  '.mjs': 'text/javascript',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.toml': 'application/toml',
  '.txt': 'text/plain',
  '.wasm': 'application/wasm',
  '.webp': 'image/webp',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.zip': 'application/zip',
};
export function typeOfFile(file: string): string | undefined {
  return BY_EXTENSION[path.extname(file).toLowerCase()];
}

export function typeOfBytes(bytes: Buffer): string {
  return typeOfBeginning(bytes) ?? (isText(bytes) ? 'text/plain' : 'application/octet-stream');
}

/**
 * Whether bytes may be sent as text: they must come back as the same bytes. A zero byte is legal UTF-8, but occurs in
 * no written text.
 */
export function isText(bytes: Buffer): boolean {
  return !bytes.includes(0) && isUtf8(bytes);
}
