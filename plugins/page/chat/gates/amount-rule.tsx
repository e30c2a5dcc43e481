import type { Decision, Gate } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Form } from "../../widgets/controls.tsx";
import { Field } from "../../widgets/field.tsx";

interface AmountRuleProps {
  readonly offer: NonNullable<Extract<Gate, { type: "approval" }>["offer"]>;
  onDecide(decision: Decision, limit?: string): void;
}

/** Up to how much a day such calls go without a question. */
export function AmountRule({ offer, onDecide }: AmountRuleProps) {
  const { gates } = text.chat;
  return (
    <Form class="rule" onSubmit={({ limit }) => onDecide("rule", limit)}>
      <Field label={gates.amountADay(offer.param)} name="limit">
        {(field) => (
          <span>
            <input
              {...field}
              required
              pattern="[0-9]{1,9}([.,][0-9]{1,2})?"
              inputMode="decimal"
              autocomplete="off"
              defaultValue={offer.limit}
            />
            {offer.unit}
          </span>
        )}
      </Field>
      <button type="submit">{gates.allowAmount}</button>
    </Form>
  );
}
