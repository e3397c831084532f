/** A place where messages are, as a person would draw it. Exchanges are not drawn: the arrows go through them. */
export interface GraphNode {
  /** The name of the place on the broker. Edges refer to it. */
  readonly id: string;
  /** `tier`: a queue to wait in. `instance`: the queue of one instance. */
  readonly kind: "source" | "work" | "tier" | "dead" | "instance";
  /** The text on the place. */
  readonly label: string;
  /** One more line, such as the delay of a tier. */
  readonly detail?: string;
  /** The queues that this one place stands for, because a picture need not tell them apart. */
  readonly joined?: readonly string[];
  /** The consumer that it belongs to. Null for a shared place. */
  readonly consumer: string | null;
}

/** A movement of messages from one place to another. */
export interface GraphEdge {
  /** The `id` of the place that a message leaves. */
  readonly from: string;
  /** The `id` of the place that it reaches. */
  readonly to: string;
  /** The event that moves it. A line feed divides several. */
  readonly label: string;
  /** `due` leads back from a wait to the next attempt. */
  readonly kind: "publish" | "retry" | "due" | "dead";
  /** The consumer whose messages take this way. Null for those of all. */
  readonly consumer: string | null;
}

export interface Graph {
  /** The heading, and the picture's name for a screen reader. */
  readonly title: string;
  /** The places where messages are. */
  readonly nodes: readonly GraphNode[];
  /** The ways between them. */
  readonly edges: readonly GraphEdge[];
}

/** The programs that send straight to the work queues. */
export function producersBy(detail: string): GraphNode {
  return { id: "producers", kind: "source", label: "producers", detail, consumer: null };
}

/** Draws one arrow for all events that take the same way. */
export function joinEvents(edges: readonly GraphEdge[]): readonly GraphEdge[] {
  const ways = Map.groupBy(edges, ({ from, to, kind }) => JSON.stringify([from, to, kind]));
  return [...ways.values()].map((events) => {
    const label = [...new Set(events.map((each) => each.label))].join("\n");
    return { ...(events[0] as GraphEdge), label };
  });
}
