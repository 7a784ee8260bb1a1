/** Values ordered by a number: adding, moving and removing one takes time that grows with the logarithm of their count. */
export class MinHeap<V extends object> {
  readonly #values: V[] = [];
  readonly #ranks: number[] = [];
  readonly #indexes = new Map<V, number>();

  get size(): number {
    return this.#values.length;
  }

  /** The value with the smallest number. */
  get first(): V | undefined {
    return this.#values[0];
  }

  /** Adds a value, or moves it. */
  set(value: V, rank: number): void {
    const index = this.#indexes.get(value) ?? this.#values.length;
    this.#put(index, value, rank);
    this.#settle(index);
  }

  delete(value: V): void {
    const index = this.#indexes.get(value);
    if (index === undefined) return;
    this.#indexes.delete(value);
    const [last, rank] = [this.#values.pop(), this.#ranks.pop()];
    if (last === undefined || rank === undefined || last === value) return;
    this.#put(index, last, rank);
    this.#settle(index);
  }

  #put(index: number, value: V, rank: number): void {
    this.#values[index] = value;
    this.#ranks[index] = rank;
    this.#indexes.set(value, index);
  }

  #settle(index: number): void {
    const above = (index - 1) >> 1;
    if (index > 0 && this.#rank(above) > this.#rank(index)) {
      this.#swap(above, index);
      this.#settle(above);
      return;
    }
    const [left, right] = [2 * index + 1, 2 * index + 2];
    const least = this.#rank(right) < this.#rank(left) ? right : left;
    if (this.#rank(least) >= this.#rank(index)) return;
    this.#swap(least, index);
    this.#settle(least);
  }

  #rank(index: number): number {
    return this.#ranks[index] ?? Infinity;
  }

  #swap(one: number, other: number): void {
    const [value, rank] = [this.#values[one], this.#rank(one)];
    this.#put(one, this.#values[other] as V, this.#rank(other));
    this.#put(other, value as V, rank);
  }
}
