# Schemathesis requests /plants/7.0 after a create with "id": 7.0. The path of that plant is /plants/7.
import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    if "id" in case.path_parameters:
        case.path_parameters["id"] = str(case.path_parameters["id"]).removesuffix(".0")
