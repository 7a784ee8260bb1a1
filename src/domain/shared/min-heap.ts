/** Values ordered by a number: adding, moving and removing one takes time that grows with the logarithm of their count. */
export class MinHeap<V extends object> {
  readonly #values: V[] = [];
  readonly #ranks: number[] = [];
  readonly #places = new Map<V, number>();

  get size(): number {
    return this.#values.length;
  }

  /** The value with the smallest number. */
  get first(): V | undefined {
    return this.#values[0];
  }

  /** Adds a value, or moves it. */
  set(value: V, rank: number): void {
    const place = this.#places.get(value) ?? this.#values.length;
    this.#put(place, value, rank);
    this.#settle(place);
  }

  delete(value: V): void {
    const place = this.#places.get(value);
    if (place === undefined) return;
    this.#places.delete(value);
    const [last, rank] = [this.#values.pop(), this.#ranks.pop()];
    if (last === undefined || rank === undefined || last === value) return;
    this.#put(place, last, rank);
    this.#settle(place);
  }

  #put(place: number, value: V, rank: number): void {
    this.#values[place] = value;
    this.#ranks[place] = rank;
    this.#places.set(value, place);
  }

  #settle(place: number): void {
    const above = (place - 1) >> 1;
    if (place > 0 && this.#rank(above) > this.#rank(place)) {
      this.#swap(above, place);
      this.#settle(above);
      return;
    }
    const [left, right] = [2 * place + 1, 2 * place + 2];
    const least = this.#rank(right) < this.#rank(left) ? right : left;
    if (this.#rank(least) >= this.#rank(place)) return;
    this.#swap(least, place);
    this.#settle(least);
  }

  #rank(place: number): number {
    return this.#ranks[place] ?? Infinity;
  }

  #swap(one: number, other: number): void {
    const [value, rank] = [this.#values[one], this.#rank(one)];
    this.#put(one, this.#values[other] as V, this.#rank(other));
    this.#put(other, value as V, rank);
  }
}
