/** Writes the children of an element in their order: after each change, a browser counts an index from the first child. */
export class ChildRow {
  readonly #parent: Element;
  #next: ChildNode | null;

  constructor(parent: Element, from = 0) {
    this.#parent = parent;
    this.#next = parent.childNodes[from] ?? null;
  }

  /** The next child, when it has that name and class; a new one in its place otherwise. */
  element(tag: string, className = ''): HTMLElement {
    const child = this.#next;
    if (
      child instanceof HTMLElement &&
      child.localName === tag &&
      (className === '' || child.className === className)
    ) {
      this.#next = child.nextSibling;
      return child;
    }
    const element = document.createElement(tag);
    if (className !== '') element.className = className;
    this.#put(element);
    return element;
  }

  /** Shows a text by changing as little as possible of the one that is there. */
  text(text: string, isSplit: boolean): void {
    const child = this.#next;
    if (!(child instanceof Text)) return this.#put(document.createTextNode(text));
    const { data } = child;
    if (text.startsWith(data)) {
      if (text.length > data.length) child.appendData(text.slice(data.length));
    } else if (isSplit && data.startsWith(text)) {
      // The rest of the node becomes the next one.
      child.splitText(text.length);
    } else {
      let same = 0;
      while (same < text.length && data[same] === text[same]) same += 1;
      child.replaceData(same, data.length - same, text.slice(same));
    }
    this.#next = child.nextSibling;
  }

  /** Removes the children that are left. */
  end(): void {
    for (let child = this.#next; child !== null; child = this.#next) {
      this.#next = child.nextSibling;
      child.remove();
    }
  }

  #put(node: ChildNode): void {
    if (this.#next === null) this.#parent.append(node);
    else this.#next.replaceWith(node);
    this.#next = node.nextSibling;
  }
}
