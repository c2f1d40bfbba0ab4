/** The part of the library that we call: its package comes without types. */
declare module '@mermaid-js/tiny' {
  const mermaid: {
    initialize(config: object): void;
    render(id: string, source: string): Promise<{ readonly svg: string }>;
  };
  // biome-ignore lint/style/noDefaultExport: the library's, as `late-libraries.ts` makes it
  export default mermaid;
}
