import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

interface LockedPackage {
  readonly resolved?: string;
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const lockFile = readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8');
const packages = new Map<string, LockedPackage>(Object.entries(JSON.parse(lockFile).packages));

describe('the lock file', () => {
  it('names no registry: everybody installs from their own', () => {
    const resolved = [...packages].filter(([, { resolved, link }]) => resolved !== undefined && !link);
    expect(resolved).toEqual([]);
  });

  it('has the binaries of every platform, so that `npm ci` works on all of them', () => {
    const missing = [...packages].flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !packages.has(`node_modules/${name}`) && !packages.has(`${path}/node_modules/${name}`),
      ),
    );
    expect(missing).toEqual([]);
  });
});
