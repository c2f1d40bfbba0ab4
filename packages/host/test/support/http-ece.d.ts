declare module 'http_ece' {
  interface Options {
    readonly version: string;
    readonly privateKey: import('node:crypto').ECDH;
    readonly authSecret: string;
  }
  export function decrypt(body: Buffer, options: Options): Buffer;
}
