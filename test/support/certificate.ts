/** Certificates for tests, made by `openssl`: Node can read certificates and cannot make them. */
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';

export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/** A self-signed certificate and its key, in two files of `folder`. */
export function makeCertificate(folder: string, name: string, names = 'DNS:agents.example'): CertificateFiles {
  const files = { cert: path.join(folder, `${name}.crt`), key: path.join(folder, `${name}.key`) };
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const about = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${names}`];
  const made = spawnSync('openssl', ['req', ...kind, ...about, '-keyout', files.key, '-out', files.cert]);
  if (made.status !== 0) throw new Error(String(made.stderr));
  return files;
}

/** Puts the contents of one pair into the files of another, as a program does that renews certificates. */
export async function replacePair(files: CertificateFiles, next: { cert: string; key: string }): Promise<void> {
  await writeFile(files.cert, next.cert);
  await writeFile(files.key, next.key);
}
