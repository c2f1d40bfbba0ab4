/**
 * Certificate and key for TLS, from two PEM files. The host checks them by name every few seconds: programs that renew
 * certificates exchange files, links or whole folders, which file watchers of the system do not follow. New connections
 * use a new pair. A pair that does not work is logged once, and the old one stays in use.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { open } from 'node:fs/promises';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { Clock } from '@atrium/core/util/clock.js';
import { type LogFields, type Logger, silentLogger } from '@atrium/core/util/logger.js';
import { TLS_CHECK_MS, TLS_FILE_MAX_BYTES } from './limits.js';

const MISMATCH = Object.assign(new Error('the key is of another certificate'), { code: 'KEY_MISMATCH' });
const OTHERS_MAY_READ_OR_WRITE = 0o006;

export interface TlsFiles {
  /** The certificate, followed by those between it and its authority. */
  readonly cert: string;
  readonly key: string;
}

/** The message says which file is wrong and what to do. It never contains the content of a file. */
export class TlsFilesError extends Error {
  override readonly name = 'TlsFilesError';
}

export interface TlsPair {
  readonly options: SecureContextOptions;
  /** Problems that are worth a line in the log although the pair works. */
  readonly warnings: readonly string[];
  readonly facts: LogFields;
}

/** Throws a `TlsFilesError` when the files cannot be used together. */
export async function readTlsPair(files: TlsFiles, now = Date.now()): Promise<TlsPair> {
  const [cert, key] = await Promise.all([contentOf(files.cert, '--tls-cert'), contentOf(files.key, '--tls-key')]);
  const first = parsedCertificate(cert.text, files.cert);
  const options: SecureContextOptions = { cert: cert.text, key: key.text, minVersion: 'TLSv1.2' };
  try {
    // Node creates a context even with a wrong key; every handshake would then fail.
    if (!first.checkPrivateKey(createPrivateKey(key.text))) throw MISMATCH;
    createSecureContext(options);
  } catch (error) {
    throw new TlsFilesError(certificateProblem(files, error));
  }
  return {
    options,
    warnings: [...keyWarnings(files.key, key.mode), ...dateWarnings(first, now)],
    facts: { names: first.subjectAltName ?? first.subject, until: first.validTo, sha256: first.fingerprint256 },
  };
}

interface Content {
  readonly text: string;
  readonly mode: number;
}

async function contentOf(file: string, option: string): Promise<Content> {
  try {
    const handle = await open(file);
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) throw new TlsFilesError(`${option}: ${file} is not a file`);
      if (stat.size > TLS_FILE_MAX_BYTES)
        throw new TlsFilesError(`${option}: ${file} is larger than ${TLS_FILE_MAX_BYTES} bytes`);
      return { text: await handle.readFile('latin1'), mode: stat.mode };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof TlsFilesError) throw error;
    throw new TlsFilesError(`${option}: ${file} cannot be read (${codeOf(error)})`);
  }
}

function parsedCertificate(text: string, file: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch {
    throw new TlsFilesError(
      `--tls-cert: ${file} holds no certificate. Give a PEM file that begins with the host's own`,
    );
  }
}

function certificateProblem({ cert, key }: TlsFiles, error: unknown): string {
  const code = codeOf(error);
  if (code.includes('MISMATCH')) return `--tls-key: ${key} is not the key of the certificate in ${cert}`;
  if (/PASSWORD|PASSPHRASE|BAD_DECRYPT|INTERRUPTED_OR_CANCELLED/.test(code))
    return `--tls-key: ${key} is encrypted. Give the key without a passphrase, in a file that only you can read`;
  return `--tls-key: ${key} cannot be used with ${cert} (${code}). Give a certificate and its key, both as PEM`;
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown reason';
}

function keyWarnings(file: string, mode: number): string[] {
  if (process.platform === 'win32' || (mode & OTHERS_MAY_READ_OR_WRITE) === 0) return [];
  return [`every user of this machine can read or change the key ${file}: chmod 600 ${file}`];
}

function dateWarnings({ validFrom, validTo }: X509Certificate, now: number): string[] {
  if (now > Date.parse(validTo)) return [`the certificate has expired: it was valid until ${validTo}`];
  return now < Date.parse(validFrom) ? [`the certificate is not valid before ${validFrom}`] : [];
}

export interface TlsWatchOptions {
  readonly files: TlsFiles;
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
  /** Starts to use a new pair. */
  use(options: SecureContextOptions): void;
}

/** Checks the files at an interval, until `stop`. */
export class TlsWatch {
  readonly #options: TlsWatchOptions;
  readonly #logger: Logger;
  #current: TlsPair;
  /** The problem that the last check found, so that it is logged once. */
  #problem = '';
  #cancel: () => void;
  #isStopped = false;

  constructor(current: TlsPair, options: TlsWatchOptions) {
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    this.#current = current;
    this.#warn(current);
    this.#cancel = this.#arm();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  #arm(): () => void {
    return this.#options.clock.after(TLS_CHECK_MS, () => void this.#check());
  }

  async #check(): Promise<void> {
    try {
      const next = await readTlsPair(this.#options.files);
      if (!this.#isStopped) this.#take(next);
    } catch (error) {
      this.#failed(error instanceof Error ? error.message : String(error));
    }
    if (!this.#isStopped) this.#cancel = this.#arm();
  }

  #take(next: TlsPair): void {
    this.#problem = '';
    const { cert, key } = this.#current.options;
    if (next.options.cert === cert && next.options.key === key) return;
    this.#options.use(next.options);
    this.#current = next;
    this.#logger.log('info', 'new certificate in use', next.facts);
    this.#warn(next);
  }

  #failed(problem: string): void {
    if (problem === this.#problem || this.#isStopped) return;
    this.#problem = problem;
    this.#logger.log('error', `the old certificate stays in use: ${problem}`);
  }

  #warn({ warnings }: TlsPair): void {
    for (const warning of warnings) this.#logger.log('warn', warning);
  }
}
