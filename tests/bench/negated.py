"""Messages that deny what an intent is about, for the bench `decide`.

Written before the first measurement; four of these 48 have since shown what the reading of denials
lacked ("nobody", "nothing to do with", examples with a denial in a side clause), so they are no
longer unseen. NLU++ labels "I don't want a refund" as being about refunds, and its rule's own
signals may hold it: a yes is right where they do.
"""

from __future__ import annotations

NEGATED: dict[str, tuple[tuple[str, str], ...]] = {
    "CLINC150": (
        ("report_lost_card", "i have not lost my card"),
        ("report_lost_card", "my card isn't lost, i just want to know the limit"),
        ("freeze_account", "please don't freeze my account"),
        ("freeze_account", "i never asked you to put a hold on my account"),
        ("cancel_reservation", "i don't want to cancel my dinner reservation"),
        ("book_flight", "i'm not trying to book a flight"),
        ("book_hotel", "i do not need a hotel room in chicago"),
        ("report_fraud", "there was no fraud on my account"),
        ("pay_bill", "do not pay my electric bill"),
        ("transfer", "don't transfer any money to my savings account"),
        ("new_card", "i am not interested in applying for a new credit card"),
        ("pin_change", "i don't want to change my pin number"),
        ("order_checks", "no need to order new checks for me"),
        ("schedule_meeting", "don't schedule a meeting with tom"),
        ("play_music", "i don't want to hear any music"),
        ("credit_limit_change", "i'm not asking for a higher credit limit"),
        ("travel_notification", "i am not travelling to france, no need to tell my bank"),
        ("rollover_401k", "i wouldn't want to roll over my 401k"),
        ("lost_luggage", "my luggage was not lost"),
        ("uber", "never mind, i don't need an uber"),
    ),
    "Banking77": (
        ("terminate_account", "I don't want to close my account"),
        ("terminate_account", "I never said that you should delete my account"),
        ("request_refund", "I'm not asking for a refund"),
        ("request_refund", "This isn't about getting my money back for something I bought"),
        ("lost_or_stolen_card", "My card was not stolen"),
        ("lost_or_stolen_card", "I did not lose my card, it is right here in my hand"),
        ("change_pin", "I am not trying to change my PIN"),
        ("cancel_transfer", "Please do not cancel my transfer"),
        ("getting_spare_card", "I have no need for a second card"),
        ("order_physical_card", "I don't want to order a physical card"),
        ("getting_virtual_card", "I'm not interested in a virtual card"),
        ("compromised_card", "Nobody has used my card, it was not hacked"),
        ("edit_personal_details", "I haven't moved and don't want to change my address"),
        ("lost_or_stolen_phone", "My phone wasn't stolen"),
        ("terminate_account", "No quiero cerrar mi cuenta"),
        ("terminate_account", "Ich möchte mein Konto nicht kündigen"),
        ("request_refund", "Je ne demande pas de remboursement"),
        ("lost_or_stolen_card", "Non ho perso la mia carta"),
        ("change_pin", "Não quero mudar o meu PIN"),
        ("getting_spare_card", "Ik heb geen tweede kaart nodig"),
    ),
    "NLU++": (
        ("refund", "I don't want a refund"),
        ("refund", "I wasn't asking for my money back"),
        ("cancel_close_leave_freeze", "I don't want to cancel my card"),
        ("cancel_close_leave_freeze", "please don't close my savings account"),
        ("appointment", "I do not need an appointment"),
        ("mortgage", "this has nothing to do with a mortgage, I never wanted one"),
        ("lost_stolen", "my card was not stolen"),
        ("standing_order", "I have no standing order and I don't want one"),
    ),
}
"""By set: the intent whose rule must not be taken to apply, and the message."""
