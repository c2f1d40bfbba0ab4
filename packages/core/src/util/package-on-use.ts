/** Loads a package of others when it is first used: loading some takes longer than everything that most hosts do with them. */
import { createRequire } from 'node:module';

/** `from` is the `import.meta.url` of the module that wants the package. The caller names the package's type. */
export function packageOnUse<T>(name: string, from: string): () => T {
  let loaded: T | undefined;
  return () => (loaded ??= createRequire(from)(name) as T);
}
