/**
 * An element that takes style rules as its text, like `<style>`, and adopts them as a sheet of the document while it is
 * there. A content policy without inline styles allows this: only scripts of the page itself can do it.
 */
export class StyleElement extends HTMLElement {
  readonly #sheet = new CSSStyleSheet();

  override get textContent(): string {
    return '';
  }

  override set textContent(css: string | null) {
    this.#sheet.replaceSync(css ?? '');
  }

  connectedCallback(): void {
    this.hidden = true;
    if (!document.adoptedStyleSheets.includes(this.#sheet)) document.adoptedStyleSheets.push(this.#sheet);
  }

  disconnectedCallback(): void {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== this.#sheet);
  }
}

export function defineStyleElement(): void {
  if (!customElements.get('atrium-style')) customElements.define('atrium-style', StyleElement);
}
