// The reference implementation and the examples of the specification, which have no types of their own.
declare module 'commonmark' {
  export class Parser {
    parse(text: string): unknown;
  }
  export class HtmlRenderer {
    render(document: unknown): string;
  }
}

declare module 'commonmark-spec' {
  export const tests: readonly {
    readonly number: number;
    readonly section: string;
    readonly markdown: string;
    readonly html: string;
  }[];
}
