/** Where a path really leads, also when its end does not exist yet. For places that people have named, not clients. */
import { realpath } from 'node:fs/promises';
import path from 'node:path';

export async function realPathOf(file: string): Promise<string> {
  const missing: string[] = [];
  for (let current = file; ; current = path.dirname(current)) {
    const real = await realpath(current).catch(() => undefined);
    if (real !== undefined) return path.join(real, ...missing);
    if (current === path.dirname(current)) return file;
    missing.unshift(path.basename(current));
  }
}
