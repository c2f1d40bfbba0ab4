/** Loads a third-party package on first use: loading some takes longer than everything that most hosts do with them. */
import { createRequire } from 'node:module';

/** `from` is the `import.meta.url` of the module that needs the package. The caller names the package's type. */
export function packageOnUse<T>(name: string, from: string): () => T {
  let loaded: T | undefined;
  return () => (loaded ??= createRequire(from)(name) as T);
}
