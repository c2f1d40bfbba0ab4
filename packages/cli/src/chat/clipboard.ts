/** Reads the picture in the clipboard with a program of this machine. */
import { execFile } from 'node:child_process';
import { ATTACHMENT_MAX_BYTES, typeOfBeginning } from '@atrium/protocol/ahp-1';

const READ_MAX_MS = 10_000;
/** Some programs write the bytes as hexadecimal digits. */
const OUTPUT_MAX_BYTES = 3 * ATTACHMENT_MAX_BYTES;
const TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];

const POWERSHELL = `Add-Type -AssemblyName System.Windows.Forms, System.Drawing
$picture = [Windows.Forms.Clipboard]::GetImage()
if ($picture) {
  $bytes = New-Object IO.MemoryStream
  $picture.Save($bytes, [Drawing.Imaging.ImageFormat]::Png)
  [Convert]::ToBase64String($bytes.ToArray())
}`;

type Run = (program: string, ...args: readonly string[]) => Promise<Buffer>;
type Reader = (run: Run) => Promise<Buffer>;

/** Each returns the bytes of a picture, or nothing if there is none. */
const READERS: readonly Reader[] = [
  (run) => ofType(run('wl-paste', '--list-types'), (type) => run('wl-paste', '--no-newline', '--type', type)),
  (run) =>
    ofType(run('xclip', '-selection', 'clipboard', '-t', 'TARGETS', '-o'), (type) =>
      run('xclip', '-selection', 'clipboard', '-t', type, '-o'),
    ),
  (run) => run('pngpaste', '-'),
  async (run) => fromHex(await run('osascript', '-e', 'the clipboard as «class PNGf»')),
  async (run) =>
    fromBase64(await run('powershell.exe', '-NoProfile', '-NonInteractive', '-STA', '-Command', POWERSHELL)),
];

export class NoClipboardError extends Error {}

/** Undefined if the clipboard holds no picture. */
export async function clipboardPicture(env: NodeJS.ProcessEnv): Promise<Buffer | undefined> {
  let isReadable = false;
  for (const reader of READERS) {
    const bytes = await reader(runner(env)).catch((error: NodeJS.ErrnoException) => {
      // The program exists, but cannot read this clipboard, or finds no picture in it.
      isReadable ||= error.code !== 'ENOENT';
      return undefined;
    });
    if (bytes === undefined) continue;
    isReadable = true;
    if (typeOfBeginning(bytes)?.startsWith('image/')) return bytes;
  }
  if (isReadable) return undefined;
  throw new NoClipboardError(
    'No program here reads pictures from the clipboard: install wl-clipboard (Wayland), xclip (X11) or pngpaste (macOS), or paste the name of a file.',
  );
}

function runner(env: NodeJS.ProcessEnv): Run {
  return (program, ...args) =>
    new Promise((resolve, reject) => {
      const options = { env, encoding: 'buffer', timeout: READ_MAX_MS, maxBuffer: OUTPUT_MAX_BYTES } as const;
      execFile(program, args, options, (error, stdout) => (error ? reject(error) : resolve(stdout)));
    });
}

async function ofType(offered: Promise<Buffer>, read: (type: string) => Promise<Buffer>): Promise<Buffer> {
  const types = (await offered).toString('utf8').split('\n');
  const type = TYPES.find((each) => types.includes(each));
  return type === undefined ? Buffer.alloc(0) : read(type);
}

/** `«data PNGf89504E47…»` */
function fromHex(output: Buffer): Buffer {
  return Buffer.from(/data PNGf([\dA-F]+)/i.exec(output.toString('utf8'))?.[1] ?? '', 'hex');
}

function fromBase64(output: Buffer): Buffer {
  return Buffer.from(output.toString('utf8'), 'base64');
}
